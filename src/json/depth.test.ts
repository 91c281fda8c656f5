import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeeperThan } from './depth.js';

const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

test('levels are counted, and brackets in strings are none', () => {
  assert.equal(isDeeperThan(nested(5), 5), false);
  assert.equal(isDeeperThan(nested(6), 5), true);
  assert.equal(isDeeperThan('{"a":{"b":[{"c":1}]}}', 4), false);
  assert.equal(isDeeperThan('{"a":{"b":[{"c":1}]}}', 3), true);
  assert.equal(isDeeperThan(JSON.stringify(['['.repeat(50), '\\"[[[[[[', '{']), 1), false);
  assert.equal(isDeeperThan(`[${'[],'.repeat(50)}[]]`, 2), false);
});
