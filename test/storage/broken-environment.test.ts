/** What the library does with an environment that LMDB has given up, or that is closed, must not be seen by anyone. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { Faults, withoutFaults } from '../support/faults.js';

const program = path.join(import.meta.dirname, 'broken-environment.js');

function outcomeOf(t: TestContext, scenario: string): unknown {
  // Memory that is given back is overwritten, so that its use shows.
  const env = { ...process.env, ...new Faults(t).env, MALLOC_PERTURB_: '165' };
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [program, scenario], {
    env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(status, 0, `${signal} ${stderr}`);
  return JSON.parse(stdout);
}

test(
  'a broken environment refuses to be read, and does not seem to be empty',
  { skip: withoutFaults },
  (t) => {
    const refused = 'StorageError';
    assert.deepEqual(outcomeOf(t, 'reading'), [refused, refused, refused, refused, refused]);
  },
);

test('an attempt to open a broken environment does not keep it open', { skip: withoutFaults }, (t) => {
  assert.deepEqual(outcomeOf(t, 'opening'), [false, 'StorageError', 1000]);
});

test('an iteration may be left, but not go on, after its store was closed', { skip: withoutFaults }, (t) => {
  assert.deepEqual(outcomeOf(t, 'closing'), [true, 'StorageError']);
});
