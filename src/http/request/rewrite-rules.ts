/**
 * The rules by which a design document leads requests elsewhere: `{from, to, method, query, formats}`. In `from`, `:name`
 * stands for any part of a path and `*` at the end for the rest; in `to` and in the values of `query` they stand for what
 * was found. Pure code; what is wrong with a rule makes it fit nothing.
 */
export interface RewriteRequest {
  method: string;
  /** The parts of the path behind `_rewrite`. */
  path: readonly string[];
  query: ReadonlyMap<string, string>;
}

export interface Rewritten {
  /** As the rule has it, relative to the design document. */
  path: string;
  query: Map<string, string>;
}

type Bindings = Map<string, string>;

/** Where the first rule that fits leads; undefined where none does. */
export function applyRules(rules: readonly unknown[], request: RewriteRequest): Rewritten | undefined {
  for (const rule of rules) {
    if (typeof rule !== 'object' || rule === null) continue;
    const { from = '*', to, method = '*', query = {}, formats = {} } = rule as Record<string, unknown>;
    if (typeof from !== 'string' || typeof to !== 'string') continue;
    if (method !== '*' && method !== request.method) continue;
    const found = match(partsOf(from), request.path);
    if (found === undefined) continue;
    return build(to, objectOf(query), objectOf(formats), found, request);
  }
  return undefined;
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '');

interface Match {
  bindings: Bindings;
  /** What `*` stands for. */
  rest: readonly string[];
}

function match(pattern: readonly string[], path: readonly string[]): Match | undefined {
  const bindings: Bindings = new Map();
  for (const [i, expected] of pattern.entries()) {
    const part = path[i];
    if (part === undefined) return undefined;
    if (expected === '*' && i === pattern.length - 1) return { bindings, rest: path.slice(i) };
    if (expected.startsWith(':')) bindings.set(expected.slice(1), part);
    else if (expected !== part) return undefined;
  }
  return path.length === pattern.length ? { bindings, rest: [] } : undefined;
}

function build(
  to: string,
  ruleQuery: Readonly<Record<string, unknown>>,
  formats: Readonly<Record<string, unknown>>,
  { bindings, rest }: Match,
  request: RewriteRequest,
): Rewritten {
  // What the client says by its query can be named like parts of the path.
  const known: Bindings = new Map([...request.query, ...bindings]);
  const [target = '', targetQuery = ''] = to.split('?');
  const path = target
    .split('/')
    .map((part) => {
      if (part === '*') return rest.map(encodeURIComponent).join('/');
      return part.startsWith(':') ? encodeURIComponent(known.get(part.slice(1)) ?? part) : part;
    })
    .join('/');
  const query = new Map<string, string>();
  for (const pair of targetQuery === '' ? [] : targetQuery.split('&')) {
    const [name = '', value = ''] = pair.split('=');
    query.set(decodeURIComponent(name), valueText(name, decodeURIComponent(value), known, formats));
  }
  for (const [name, value] of Object.entries(ruleQuery))
    query.set(name, valueText(name, value, known, formats));
  for (const [name, value] of known) if (!query.has(name)) query.set(name, value);
  return { path, query };
}

/** Parameters of views that hold JSON. */
const jsonParameters = new Set(['key', 'keys', 'startkey', 'start_key', 'endkey', 'end_key']);

function valueText(
  name: string,
  value: unknown,
  known: Bindings,
  formats: Readonly<Record<string, unknown>>,
): string {
  const filled = fill(value, known, formats);
  if (typeof filled !== 'string') return JSON.stringify(filled);
  return jsonParameters.has(name) && !isJson(filled, value) ? JSON.stringify(filled) : filled;
}

/** A fixed text that is JSON already is meant as such. */
function isJson(filled: string, value: unknown): boolean {
  if (filled !== value) return false;
  try {
    JSON.parse(filled);
    return true;
  } catch {
    return false;
  }
}

/** Puts what was found in the place of names, at any depth. */
function fill(value: unknown, known: Bindings, formats: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(value)) return value.map((each) => fill(each, known, formats));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, fill(each, known, formats)]),
    );
  if (typeof value !== 'string' || !value.startsWith(':')) return value;
  const name = value.slice(1);
  const found = known.get(name);
  return found === undefined ? value : formatted(found, formats[name]);
}

function formatted(text: string, format: unknown): unknown {
  if (format === 'int' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (format === 'bool' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
