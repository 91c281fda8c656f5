import { SystemRuntime } from '../../src/base/runtime.js';
import { after } from 'node:test';
import { asBytes, fromBytes, toBytes } from '../../src/base/bytes.js';
import { ScriptHost, type ScriptOptions, type ScriptValue } from '../../src/script/script-host.js';

export const megabytes = 1024 * 1024;

/** A host that is closed when the file's tests are done, and what its functions logged. */
export function newHost(options: Partial<ScriptOptions> = {}): { host: ScriptHost; logged: string[] } {
  const logged: string[] = [];
  const host = new ScriptHost({
    runtime: new SystemRuntime(),
    threads: 2,
    memory_bytes: 64 * megabytes,
    timeoutMs: () => 5_000,
    log: (_, message) => logged.push(message),
    ...options,
  });
  after(() => host.close());
  return { host, logged };
}

let programs = 0;

/** What the functions emit for each document: `[key, value]` as values. */
export async function mapped(
  host: ScriptHost,
  maps: string[],
  docs: unknown[],
  { space = 'db', lib }: { space?: string; lib?: unknown } = {},
): Promise<unknown[][][]> {
  const texts = docs.map((doc) => toBytes(JSON.stringify(doc)));
  const program = {
    id: `program ${programs++}`,
    maps,
    lib: lib === undefined ? undefined : toBytes(JSON.stringify(lib)),
  };
  const rows = await (await host.map(space, program, texts)).rows();
  return rows.map((doc) => doc.map((list) => list.map(({ key, value }) => [parse(key), parse(value)])));
}

const parse = (text: string): unknown => JSON.parse(fromBytes(asBytes(text)));

/** The rows of one function for one document. */
export async function emitted(
  host: ScriptHost,
  map: string,
  doc: unknown = { _id: 'a' },
): Promise<unknown[]> {
  const [rows] = await mapped(host, [map], [doc]);
  return rows![0]!;
}

export function valueOf(value: ScriptValue | undefined): unknown {
  if (value === undefined) throw new Error('there is no value');
  return 'ok' in value ? parse(value.ok) : value;
}

/** Calls a function of a design document once. */
export async function called(
  host: ScriptHost,
  ddoc: Record<string, unknown>,
  path: string[],
  given: unknown[],
  space = 'db',
): Promise<unknown> {
  const program = { id: `ddoc ${programs++}`, json: toBytes(JSON.stringify(ddoc)) };
  const values = await host.call(space, program, path, [toBytes(JSON.stringify(given))]);
  return valueOf(values[0]);
}
