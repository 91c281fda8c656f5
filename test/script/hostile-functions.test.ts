import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { called, emitted, mapped, newHost } from './scene.js';

const timeout = 500;
const { host } = newHost({ timeoutMs: () => timeout });
const tooLong = { error: 'os_process_error', reason: `The function took longer than ${timeout} ms.` };

/** Runs a map function that is up to no good, and sees how long it takes until that is told. */
async function timed(body: string): Promise<{ ms: number; error: unknown }> {
  const began = performance.now();
  let error: unknown;
  await emitted(host, `function(doc){ ${body} }`).catch((thrown: unknown) => {
    error = thrown;
  });
  return { ms: performance.now() - began, error };
}

async function stillWorks(): Promise<void> {
  assert.deepEqual(await emitted(host, 'function(doc){ emit(doc._id) }'), [['a', null]]);
}

describe('functions that do not end', () => {
  const endless = {
    'an endless loop': 'for (;;);',
    'a loop that catches everything': 'for (;;) { try { throw 1 } catch (e) {} }',
    'a built-in that takes minutes': '"a".repeat(4e5).indexOf("a".repeat(2e5) + "b")',
    'a regular expression that backtracks': '/^(a+)+$/.test("a".repeat(40) + "b")',
    'a sort that never gets done': 'var a = []; for (var i = 0; i < 3e4; i++) a[i] = i; for (;;) a.sort()',
    'a getter that loops': 'emit(1, {get x() { for (;;); }})',
    'toJSON that loops': 'emit(1, {toJSON: function() { for (;;); }})',
  };
  for (const [what, body] of Object.entries(endless)) {
    test(`${what} is stopped at the deadline`, async () => {
      const { ms, error } = await timed(body);
      assert.deepEqual(
        { error: (error as typeof tooLong).error, reason: (error as typeof tooLong).reason },
        tooLong,
      );
      assert.ok(ms >= timeout && ms < timeout + 2_000, `${ms} ms`);
      await stillWorks();
    });
  }

  test('functions that loop while they are compiled are stopped too', async () => {
    await assert.rejects(emitted(host, '(function(){ for (;;); })()'), tooLong);
    await assert.rejects(host.check('db', ['(function(){ for (;;); })()']), tooLong);
    await assert.rejects(
      called(host, { filters: { f: 'function(){ for (;;); }' } }, ['filters', 'f'], []),
      tooLong,
    );
    await assert.rejects(host.rereduce('db', 'function(){ for (;;); }', [asBytes('[1]')]), tooLong);
  });

  test('the deadline is that of one call, not of all documents together', async () => {
    const slow = `function(doc){ var end = Date.now() + ${timeout / 4}; while (Date.now() < end); emit(doc._id) }`;
    const docs = Array.from({ length: 8 }, (_, n) => ({ _id: `d${n}` }));
    const rows = await mapped(host, [slow], docs);
    assert.equal(rows.flat(2).length, 8);
  });
});
