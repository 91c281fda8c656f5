/**
 * Tries map and reduce functions on some documents. It is served with a content security policy of its own: code from
 * text may run here, and nothing may be loaded or sent. The page ends it after a time.
 */
export interface SampleRequest {
  docs: Record<string, unknown>[];
  map: string;
  reduce: string;
}

export interface SampleRow {
  id: string;
  key: string;
  value: string;
}

export interface SampleAnswer {
  rows: SampleRow[];
  count: number;
  reduced?: string;
  error?: string;
}

const rowsMax = 100;
const lengthMax = 200;

// Functions of documents have no business with what the browser stores for the page.
for (const name of [
  'indexedDB',
  'caches',
  'BroadcastChannel',
  'fetch',
  'WebSocket',
  'XMLHttpRequest',
  'EventSource',
]) {
  Object.defineProperty(self, name, { value: undefined });
}

type AnyFunction = (...args: unknown[]) => unknown;

const shorten = (value: unknown): string => (JSON.stringify(value) ?? 'null').slice(0, lengthMax);
const sum = (values: unknown[]): number => values.reduce<number>((total, value) => total + Number(value), 0);

function compile(source: string, helpers: Record<string, unknown>): AnyFunction {
  const make = new Function(...Object.keys(helpers), `return (${source.trim().replace(/;$/, '')}\n)`);
  const made: unknown = make(...Object.values(helpers));
  if (typeof made !== 'function') throw new Error('This is not a function.');
  return made as AnyFunction;
}

function runMap({ docs, map }: SampleRequest): { id: string; key: unknown; value: unknown }[] {
  const rows: { id: string; key: unknown; value: unknown }[] = [];
  let id = '';
  const emit = (key: unknown = null, value: unknown = null): void => void rows.push({ id, key, value });
  const helpers = { emit, sum, isArray: Array.isArray, toJSON: JSON.stringify, log: () => undefined };
  const run = compile(map, helpers);
  for (const doc of docs) {
    id = String(doc['_id']);
    run(doc);
  }
  return rows;
}

function reduceRows(reduce: string, rows: { id: string; key: unknown; value: unknown }[]): unknown {
  const values = rows.map(({ value }) => value);
  if (reduce === '_count') return rows.length;
  if (reduce === '_sum') return sum(values);
  if (reduce === '_stats') {
    const numbers = values.map(Number);
    const squares = numbers.map((value) => value * value);
    return {
      sum: sum(numbers),
      count: rows.length,
      min: Math.min(...numbers),
      max: Math.max(...numbers),
      sumsqr: sum(squares),
    };
  }
  if (reduce.startsWith('_')) return 'only the server computes this one';
  return compile(reduce, { sum, isArray: Array.isArray, toJSON: JSON.stringify, log: () => undefined })(
    rows.map(({ id, key }) => [key, id]),
    values,
    false,
  );
}

function answer(request: SampleRequest): SampleAnswer {
  const rows = runMap(request);
  const shown = rows
    .slice(0, rowsMax)
    .map(({ id, key, value }) => ({ id: id.slice(0, lengthMax), key: shorten(key), value: shorten(value) }));
  const reduced = request.reduce === '' ? undefined : shorten(reduceRows(request.reduce, rows));
  return { rows: shown, count: rows.length, ...(reduced === undefined ? {} : { reduced }) };
}

self.onmessage = ({ data }: MessageEvent<SampleRequest>): void => {
  try {
    self.postMessage(answer(data));
  } catch (error) {
    self.postMessage({ rows: [], count: 0, error: String(error) } satisfies SampleAnswer);
  }
};
