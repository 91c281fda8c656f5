/** A parameter of a filter as it stands in a query: texts as they are, everything else as JSON. */
export const paramText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
