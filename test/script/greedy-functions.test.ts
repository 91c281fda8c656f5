import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { emitted, mapped, megabytes, newHost } from './scene.js';

const timeout = 1_000;
const { host, logged } = newHost({ timeoutMs: () => timeout, memory_bytes: 24 * megabytes });

/** Runs a map function that is up to no good, and sees how long it takes until that is told. */
async function timed(body: string): Promise<{ ms: number; error: unknown; rows: unknown }> {
  const began = performance.now();
  let error: unknown;
  const rows = await emitted(host, `function(doc){ ${body} }`).catch((thrown: unknown) => {
    error = thrown;
  });
  return { ms: performance.now() - began, error, rows };
}

async function stillWorks(): Promise<void> {
  assert.deepEqual(await emitted(host, 'function(doc){ emit(doc._id) }'), [['a', null]]);
}

describe('functions that take all they can get', () => {
  const greedy = {
    'strings without end': 'var s = "x"; for (;;) s += s + "y"',
    'one huge string': 'emit("x".repeat(2 ** 30))',
    'buffers without end': 'var a = []; for (;;) a.push(new Uint8Array(1 << 20))',
    'a huge array': 'var a = []; a.length = 4294967295; a.fill(1)',
    'many arguments': 'Math.max.apply(null, new Array(1e8))',
    'deep recursion': '(function f() { return f() + 1 })()',
    'recursion through built-ins': '(function f() { [1, 2].sort(f) })()',
    'a deep value': 'var a = []; for (var i = 0; i < 2e5; i++) a = [a]; emit(a)',
    'deep JSON': 'JSON.parse("[".repeat(1e6))',
    'deep source': 'eval("(".repeat(1e5) + "1" + ")".repeat(1e5))',
    'rows without end': 'for (;;) emit("a row that is repeated", "over and over")',
    'an exception that cannot be shown':
      'throw {toString: function() { throw 1 }, toJSON: function() { throw 2 }}',
  };
  for (const [what, body] of Object.entries(greedy)) {
    test(`${what}: the document is skipped, or the call refused`, async () => {
      logged.length = 0;
      const { ms, error, rows } = await timed(body);
      if (error === undefined) {
        assert.deepEqual(rows, []);
        assert.equal(logged.length, 1);
      } else assert.equal((error as { error: string }).error, 'os_process_error');
      assert.ok(ms < timeout + 2_000, `${ms} ms`);
      await stillWorks();
    });
  }

  test('other documents of the same batch keep their rows', async () => {
    const { host: patient } = newHost({ timeoutMs: () => 10_000, memory_bytes: 20 * megabytes });
    const map =
      'function(doc){ emit(doc._id); if (doc.greedy) { var a = []; for (;;) a.push(new Uint8Array(1e5)) } }';
    const rows = await mapped(patient, [map], [{ _id: 'a' }, { _id: 'b', greedy: true }, { _id: 'c' }]);
    assert.deepEqual(rows, [[[['a', null]]], [[]], [[['c', null]]]]);
  });

  test('calls of the same batch keep their results', async () => {
    const { host: patient } = newHost({ timeoutMs: () => 10_000, memory_bytes: 20 * megabytes });
    const f =
      'function(doc){ if (doc.greedy) { var a = []; for (;;) a.push(new Uint8Array(1e5)) } return true }';
    const ddoc = { id: 'greedy', json: asBytes(JSON.stringify({ filters: { f } })) };
    const values = await patient.call(
      'db',
      ddoc,
      ['filters', 'f'],
      [asBytes('[{}]'), asBytes('[{"greedy":true}]'), asBytes('[{}]')],
    );
    assert.deepEqual(
      values.map((value) => ('ok' in value ? value.ok : value.error)),
      ['true', 'os_process_error', 'true'],
    );
  });

  test('rows of many documents are refused when they are too much together', async () => {
    const { host: patient } = newHost({ timeoutMs: () => 10_000, memory_bytes: 20 * megabytes });
    const docs = Array.from({ length: 45 }, (_, n) => ({ _id: `d${n}` }));
    const large = 'function(doc){ emit(doc._id, "x".repeat(2e6)) }';
    await assert.rejects(mapped(patient, [large], docs), { error: 'os_process_error' });
    assert.equal((await mapped(patient, [large], docs.slice(0, 2))).length, 2);
  });

  test('the memory of the process comes back', async () => {
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 6; i++)
      await timed('var a = []; for (;;) { try { a.push(new Uint8Array(1 << 20)) } catch (e) {} }');
    await stillWorks();
    const grown = process.memoryUsage().rss - before;
    assert.ok(grown < 150 * megabytes, `${Math.round(grown / megabytes)} MB more`);
  });
});
