/**
 * Works on JSON as text. The server keeps numbers digit for digit, and a page that parsed and wrote documents again
 * would change `1.0` and `12345678901234567890`; so editing, formatting and choosing members leave literals alone.
 */

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** Indents valid JSON; every literal stays as it is. */
export function formatJson(text: string): string {
  let out = '';
  let depth = 0;
  let before = '';
  for (const [token] of text.matchAll(tokens)) {
    const opensEmpty = (before === '{' && token === '}') || (before === '[' && token === ']');
    if (token === '}' || token === ']') depth--;
    const breaks = before === '{' || before === '[' || before === ',' || token === '}' || token === ']';
    if (breaks && !opensEmpty) out += `\n${'  '.repeat(depth)}`;
    out += token === ':' ? ': ' : token;
    if (token === '{' || token === '[') depth++;
    before = token;
  }
  return out;
}

/** The members of a JSON object, each value as the text it has. */
export function membersOf(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let depth = 0;
  let name: string | undefined;
  let value = '';
  for (const [token] of text.matchAll(tokens)) {
    const closes = token === '}' || token === ']';
    if (closes) depth--;
    if ((depth === 1 && token === ',' && name !== undefined) || (depth === 0 && closes)) {
      if (name !== undefined) members.set(name, value);
      name = undefined;
      value = '';
    } else if (depth === 1 && name === undefined) name = JSON.parse(token) as string;
    else if (depth >= 1 && !(depth === 1 && token === ':' && value === '')) value += token;
    if (token === '{' || token === '[') depth++;
  }
  return members;
}

export function objectText(members: Map<string, string>): string {
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** The same object with other values for some members; undefined leaves a member out. */
export function withMembers(text: string, changes: Record<string, string | undefined>): string {
  const members = membersOf(text);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) members.delete(name);
    else members.set(name, value);
  }
  return objectText(members);
}

/** What is wrong with a text that has to be a JSON object, and where; undefined where nothing is. */
export function jsonProblem(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? undefined : 'A document is a JSON object: {"name": "value"}.';
  } catch (error) {
    return (error as Error).message;
  }
}

interface RawJson {
  rawJSON?: (text: string) => unknown;
}

/** Parses JSON so that it can be written again with the same numbers, where the browser is able to. */
export function parseExact(text: string): unknown {
  const { rawJSON } = JSON as RawJson;
  if (rawJSON === undefined) return JSON.parse(text) as unknown;
  return JSON.parse(text, function (this: unknown, _key, value: unknown, context?: { source?: string }) {
    if (typeof value !== 'number' || context?.source === undefined) return value;
    return String(value) === context.source ? value : rawJSON(context.source);
  } as (key: string, value: unknown) => unknown) as unknown;
}
