import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes } from '../base/bytes.js';
import { decodeShardMap, encodeShardMap, ShardMap } from './shard-map.js';
import { hashOf, rangeName } from './shard-ranges.js';
import { decodeState, encodeState } from './shard-state.js';

const ids = Array.from({ length: 500 }, (_, n) => asBytes(`doc-${n}`));
const half = 2 ** 31;

test('every id is in the shard whose range has its hash, whatever was split', () => {
  let map = new ShardMap(3);
  for (let splits = 0; splits < 60; splits++) {
    for (const id of ids) {
      const { first, last } = map.range(map.shardOf(id));
      assert.ok(first <= hashOf(id) && hashOf(id) <= last);
    }
    const ranges = map.shards.map((shard) => map.range(shard));
    assert.equal(ranges.length, map.count);
    for (const [at, { first }] of ranges.entries())
      assert.equal(first, at === 0 ? 0 : ranges[at - 1]!.last + 1);
    assert.equal(ranges.at(-1)!.last, 2 ** 32 - 1);
    const wide = map.shards.filter((shard) => map.range(shard).last > map.range(shard).first);
    const source = wide[(splits * 7) % wide.length]!;
    const { first, last } = map.range(source);
    map = map.with({ source, middle: first + Math.floor((last - first) / 2), seq: splits });
    assert.ok(map.isGone(source));
  }
  assert.deepEqual(decodeShardMap(encodeShardMap(map)), map);
});

test('bodies and blobs are looked for where they were before the split', () => {
  const map = new ShardMap(2, [
    { source: 1, middle: half + 2 ** 30 - 1, seq: 10 },
    { source: 3, middle: half + 2 ** 30 + 2 ** 29 - 1, seq: 20 },
  ]);
  assert.deepEqual(
    [1, 10, 11, 20, 21].map((ref) => map.bodyHome(5, ref)),
    [1, 1, 3, 3, 5],
  );
  assert.deepEqual(
    [0, 2, 4, 5].map((shard) => map.blobHome(shard)),
    [0, 1, 1, 1],
  );
  assert.equal(rangeName(map.range(5)), 'e0000000-ffffffff');
});

test('places are carried over to the shards there are', () => {
  const map = new ShardMap(1, [{ source: 0, middle: half - 1, seq: 10 }]);
  assert.deepEqual(map.positions([7]), [0, 7, 7]);
  assert.deepEqual(map.positions([0, 7, 8]), [0, 7, 8]);
  assert.deepEqual(map.positions([]), [0, 0, 0]);
  assert.deepEqual(map.settle([0, 7, 8], Math.min), [7, 7, 8]);
});

test('a shard may have fewer bytes than none, as others have them', () => {
  const state = { ...decodeState(undefined), stored_bytes: -5, external_bytes: 2 ** 40 };
  assert.deepEqual(decodeState(encodeState(state)), state);
});
