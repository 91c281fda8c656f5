import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs } from './backoff.js';

test('the wait doubles with each failure, up to the longest', () => {
  const backoff = { firstMs: 250, longestMs: 2_000 };
  assert.deepEqual(
    [1, 2, 3, 4, 5, 100].map((failures) => backoffMs(failures, backoff)),
    [250, 500, 1_000, 2_000, 2_000, 2_000],
  );
});

test('a million failures give the longest wait, and a first wait of 0 stays 0', () => {
  assert.equal(backoffMs(1_000, { firstMs: 1, longestMs: 60_000 }), 60_000);
  assert.equal(backoffMs(30, { firstMs: 0, longestMs: 60_000 }), 0);
});
