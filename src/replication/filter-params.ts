/** The design document of a filter and its name in there, which may have slashes; undefined where there is no slash. */
export function filterParts(name: string): [ddoc: string, filter: string] | undefined {
  const at = name.indexOf('/');
  return at < 0 ? undefined : [name.slice(0, at), name.slice(at + 1)];
}

/** A parameter of a filter as it stands in a query: texts as they are, everything else as JSON. */
export const paramText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
