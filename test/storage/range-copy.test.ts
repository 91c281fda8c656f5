import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, noBytes } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { RangeCopy, type RangeCopyOptions } from '../../src/storage/range-copy.js';
import type { Bytes, Write } from '../../src/storage/store.js';
import { Random, seed } from '../model/random.js';
import { entriesOf } from './entries.js';

const runtime = new SystemRuntime();
const ranges = [
  { start: asBytes('b'), end: asBytes('c') },
  { start: asBytes('d'), end: asBytes('f') },
];

/** A source, its copy, and those who write to the source: each batch is told of when it can be read. */
class Scene {
  readonly source = new MemoryStore();
  readonly target = new MemoryStore();
  readonly copy: RangeCopy;
  /** Called before each batch is in the copy. */
  onWrite: (writes: readonly Write[]) => Promise<void> = () => runtime.nextTurn();

  constructor(options: Partial<RangeCopyOptions> = {}) {
    this.copy = new RangeCopy({
      source: () => this.source,
      ranges,
      write: async (writes) => {
        await this.onWrite(writes);
        await this.target.write(writes).flushed;
      },
      runtime,
      ...options,
    });
  }

  change(writes: readonly Write[]): void {
    void this.source.write(writes);
    this.copy.noteWrites(writes);
  }

  /** What the copy should have. */
  get expected(): { key: Bytes; value: Bytes }[] {
    return ranges.flatMap((range) => [...this.source.entries(range)]);
  }
}

const first: Bytes[] = [
  noBytes,
  asBytes('a'),
  asBytes('b'),
  asBytes('c'),
  asBytes('d'),
  asBytes('e'),
  asBytes('f'),
  asBytes('g'),
];
const someKey = (random: Random): Bytes => asBytes(random.pick(first) + random.hex(random.below(5)));

for (let round = 0; round < 10; round++) {
  test(`a copy has all that is added, changed and removed anywhere meanwhile (seed ${seed}, round ${round})`, async () => {
    const random = new Random(seed + round);
    const scene = new Scene();
    const someWrites = (): Write[] =>
      Array.from({ length: 1 + random.below(200) }, () => ({
        key: asBytes(`${someKey(random)}\x01`),
        value: random.oneIn(3) ? undefined : asBytes(random.bytes(random.below(40))),
      }));
    for (let left = random.below(60); left > 0; left--) void scene.source.write(someWrites());
    scene.onWrite = async () => {
      for (let left = random.below(4); left > 0; left--) {
        scene.change(someWrites());
        await runtime.nextTurn();
      }
    };
    await scene.copy.copy();
    for (let left = random.below(3); left > 0; left--) await scene.copy.carry();
    scene.onWrite = () => Promise.resolve();
    await scene.copy.carry();
    assert.equal(scene.copy.behind, 0);
    assert.deepEqual(entriesOf(scene.target), scene.expected);
  });
}

test('keys that come behind the last one while that is being written are in the copy', async () => {
  const scene = new Scene();
  await scene.source.write([{ key: asBytes('b1'), value: asBytes('1') }]).flushed;
  scene.onWrite = () => {
    scene.onWrite = () => Promise.resolve();
    scene.change([
      { key: asBytes('b2'), value: asBytes('behind it') },
      { key: asBytes('b0'), value: asBytes('before it') },
      { key: asBytes('eee'), value: asBytes('at the end of all') },
    ]);
    return Promise.resolve();
  };
  await scene.copy.copy();
  await scene.copy.carry();
  assert.deepEqual(entriesOf(scene.target), scene.expected);
  assert.equal(scene.expected.length, 4);
});

test('what changes while it is carried over is carried over the next time', async () => {
  const scene = new Scene();
  scene.change([{ key: asBytes('b'), value: asBytes('old') }]);
  scene.onWrite = () => {
    scene.change([{ key: asBytes('b'), value: asBytes('new') }]);
    return Promise.resolve();
  };
  await scene.copy.carry();
  assert.equal(scene.target.get(asBytes('b')), 'old');
  assert.equal(scene.copy.behind, 1);
  scene.onWrite = () => Promise.resolve();
  await scene.copy.carry();
  assert.equal(scene.target.get(asBytes('b')), 'new');
});

test('what could not be carried over is tried again', async () => {
  const scene = new Scene();
  scene.change([{ key: asBytes('b'), value: asBytes('1') }]);
  scene.onWrite = () => Promise.reject(new Error('the disk is full'));
  await assert.rejects(scene.copy.carry(), /the disk is full/);
  scene.onWrite = () => Promise.resolve();
  await scene.copy.carry();
  assert.equal(scene.target.get(asBytes('b')), '1');
});

test('keys may get other names, be left out, and be divided', async () => {
  const map = (key: Bytes, value: Bytes | undefined): Write[] =>
    key.endsWith('0') ? [] : [`x${key}`, `y${key}`].map((name) => ({ key: asBytes(name), value }));
  const scene = new Scene({ map });
  await scene.source.write([
    { key: asBytes('b0'), value: asBytes('0') },
    { key: asBytes('b1'), value: asBytes('1') },
    { key: asBytes('b2'), value: asBytes('2') },
  ]).flushed;
  await scene.copy.copy();
  scene.change([{ key: asBytes('b1'), value: undefined }]);
  await scene.copy.carry();
  assert.deepEqual(
    entriesOf(scene.target).map(({ key }) => key),
    ['xb2', 'yb2'],
  );
});

test('much is copied in small batches, and none is read twice', async () => {
  let read = 0;
  let most = 0;
  const scene = new Scene({ onBatch: (keys) => (read += keys) });
  const all = Array.from({ length: 3_000 }, (_, n) => ({
    key: asBytes(`b${n}`),
    value: asBytes('x'.repeat(n % 7)),
  }));
  await scene.source.write(all).flushed;
  scene.onWrite = (writes) => {
    most = Math.max(most, writes.length);
    return Promise.resolve();
  };
  await scene.copy.copy();
  assert.equal(read, 3_000);
  assert.ok(most <= 500, `${most} keys at once`);
  assert.deepEqual(entriesOf(scene.target), scene.expected);
});

test('a copy ends when it is told to', async () => {
  const scene = new Scene({
    onBatch: () => {
      throw new Error('enough');
    },
  });
  await scene.source.write([{ key: asBytes('b'), value: asBytes('1') }]).flushed;
  await assert.rejects(scene.copy.copy(), /enough/);
});
