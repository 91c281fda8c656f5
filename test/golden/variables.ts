import { randomBytes } from 'node:crypto';

/** Names that stand for values: fresh databases and users, and what earlier steps kept. */
export type Variables = Record<string, string>;

export const databaseNames = ['db', 'db2', 'db3', 'db4'] as const;
const personNames = ['user', 'user2', 'user3', 'role'] as const;

export function freshVariables(url: string, credentials: string): Variables {
  const tag = randomBytes(4).toString('hex');
  const { host } = new URL(url);
  const variables: Variables = {
    base: url,
    base_auth: url.replace('://', `://${credentials}@`),
    host,
  };
  for (const name of [...databaseNames, ...personNames]) variables[name] = `g${name}_${tag}`;
  return variables;
}

/** Values that are different in each run, longest first, so that none is taken for a part of another. */
export function freshNames(variables: Variables): [name: string, value: string][] {
  return [...databaseNames, ...personNames]
    .map((name): [string, string] => [name, variables[name]!])
    .sort(([, a], [, b]) => b.length - a.length);
}

const reference = /\{([a-zA-Z_]\w*)(\|url)?\}/g;

/** Puts values in the place of `{name}`, percent-encoded for `{name|url}`, everywhere inside a value. */
export function fill<Value>(value: Value, variables: Variables): Value {
  return fillAny(value, variables) as Value;
}

function fillAny(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') return fillText(value, variables);
  if (Array.isArray(value)) return value.map((each) => fillAny(each, variables));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([name, each]) => [fillText(name, variables), fillAny(each, variables)]),
  );
}

function fillText(text: string, variables: Variables): string {
  return text.replace(reference, (whole: string, name: string, encoded: string | undefined) => {
    const value = variables[name];
    if (value === undefined) return whole;
    return encoded === undefined ? value : encodeURIComponent(value);
  });
}

/** What stands at a dotted path; in lists, negative numbers count from the end. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split('.')) {
    if (found === undefined || found === null) return undefined;
    const isIndex = Array.isArray(found) && /^-?\d+$/.test(name);
    found = isIndex ? (found as unknown[]).at(Number(name)) : (found as Record<string, unknown>)[name];
  }
  return found;
}

/** Changes what stands at a dotted path, in which `*` stands for every member. */
export function changeAt(root: unknown, path: string, change: (value: unknown) => unknown): void {
  const [name = '', ...rest] = path.split('.');
  if (typeof root !== 'object' || root === null) return;
  const holder = root as Record<string, unknown>;
  for (const key of keysNamed(root, name)) {
    if (!(key in holder)) continue;
    if (rest.length === 0) holder[key] = change(holder[key]);
    else changeAt(holder[key], rest.join('.'), change);
  }
}

function keysNamed(holder: object, name: string): string[] {
  if (name === '*') return Object.keys(holder);
  if (Array.isArray(holder) && /^-\d+$/.test(name)) return [String(holder.length + Number(name))];
  return [name];
}
