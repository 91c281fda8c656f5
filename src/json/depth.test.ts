import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, toBytes, type Bytes } from '../base/bytes.js';
import { isDeeperThan } from './depth.js';

const nested = (levels: number): Bytes => asBytes('['.repeat(levels) + ']'.repeat(levels));

test('levels are counted, and brackets in strings are none', () => {
  assert.equal(isDeeperThan(nested(5), 5), false);
  assert.equal(isDeeperThan(nested(6), 5), true);
  assert.equal(isDeeperThan(asBytes('{"a":{"b":[{"c":1}]}}'), 4), false);
  assert.equal(isDeeperThan(asBytes('{"a":{"b":[{"c":1}]}}'), 3), true);
  assert.equal(isDeeperThan(toBytes(JSON.stringify(['['.repeat(50), '\\"[[[[[[', '{'])), 1), false);
  assert.equal(isDeeperThan(asBytes(`[${'[],'.repeat(50)}[]]`), 2), false);
});
