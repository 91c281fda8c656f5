import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SystemRuntime } from '../../base/runtime.js';
import { Admission } from './admission.js';

test('requests that wait are looked at again, and wait on where they have to', async () => {
  const admission = new Admission(new SystemRuntime());
  const opening = (): Promise<boolean> | undefined => admission.opening;
  assert.equal(opening(), undefined);
  admission.lookAgain();
  assert.equal(opening(), undefined);

  admission.pause();
  const before = opening();
  admission.lookAgain();
  assert.equal(await before, true);
  const after = opening();
  assert.notEqual(after, undefined);

  admission.resume();
  assert.equal(await after, true);
  assert.equal(opening(), undefined);
});
