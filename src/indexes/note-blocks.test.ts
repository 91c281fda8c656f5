import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, type Bytes } from '../base/bytes.js';
import { MemoryStore } from '../storage/memory-store.js';
import { IndexDamage } from './index-damage.js';
import { NoteBlocks } from './note-blocks.js';

const prefix = asBytes('n');

/** Numbers below 1, the same for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}

function keyOf(random: () => number): Bytes {
  const number = Math.floor(random() * 600);
  // Keys of which some are the beginning of others, and some as long as keys of stores may be.
  const tail = number % 7 === 0 ? '' : number % 11 === 0 ? 'k'.repeat(1_900) : `${number}`;
  return asBytes(`${String(number % 40).padStart(2, '0')}${tail}`);
}

const noteOf = (random: () => number): Bytes =>
  asBytes('\xff'.repeat(Math.floor(random() < 0.02 ? random() * 9_000 : random() * 60)));

/** The notes of a store, block by block. */
const blocksOf = (store: MemoryStore): number[] =>
  store.list({ start: prefix, end: asBytes('o') }, Infinity).map(({ value }) => value.length);

for (const seed of [1, 2, 3, Math.floor(Math.random() * 2 ** 31)]) {
  test(`notes are what was noted last, seed ${seed}`, async () => {
    const random = randomNumbers(seed);
    const store = new MemoryStore();
    const beside = [asBytes('m\xff'), asBytes('o')];
    await store.write(beside.map((key) => ({ key, value: asBytes('not a block') }))).committed;
    const expected = new Map<Bytes, Bytes>();
    for (let round = 0; round < 60; round++) {
      const some = Array.from({ length: Math.floor(random() ** 3 * 200) + 1 }, () => keyOf(random));
      const isRemoving = round % 9 === 8;
      const notes = new NoteBlocks(store, prefix);
      for (const key of [...new Set(some)].sort()) {
        if (random() < 0.7) assert.equal(notes.get(key), expected.get(key));
        if (random() < 0.2) continue;
        const note = isRemoving || random() < 0.2 ? undefined : noteOf(random);
        notes.set(key, note);
        if (note === undefined) expected.delete(key);
        else expected.set(key, note);
      }
      await store.write(notes.finish()).committed;
      const all = new NoteBlocks(store, prefix);
      for (const key of [...expected.keys()].sort()) assert.equal(all.get(key), expected.get(key));
      assert.deepEqual(all.finish(), []);
    }
    const notes = new NoteBlocks(store, prefix);
    for (const key of [...expected.keys()].sort()) notes.set(key, undefined);
    await store.write(notes.finish()).committed;
    assert.deepEqual(blocksOf(store), []);
    for (const key of beside) assert.equal(store.get(key), 'not a block');
  });
}

test('many notes share a block, also where they come one by one', async () => {
  for (const direction of [1, -1]) {
    const store = new MemoryStore();
    for (let i = 0; i < 1_000; i++) {
      const notes = new NoteBlocks(store, prefix);
      notes.set(asBytes(String(5_000 + direction * i)), asBytes('x'.repeat(40)));
      await store.write(notes.finish()).committed;
    }
    const blocks = blocksOf(store);
    assert.ok(blocks.length < 80, `${blocks.length} blocks for 1,000 notes`);
    assert.ok(Math.max(...blocks) <= 1_920);
  }
});

test('a change writes one block and no other', async () => {
  const store = new MemoryStore();
  const all = new NoteBlocks(store, prefix);
  for (let i = 0; i < 1_000; i++) all.set(asBytes(String(5_000 + i)), asBytes('x'.repeat(40)));
  await store.write(all.finish()).committed;
  const one = new NoteBlocks(store, prefix);
  one.set(asBytes('5500'), asBytes('y'));
  assert.equal(one.finish().length, 1);
  const none = new NoteBlocks(store, prefix);
  assert.equal(none.get(asBytes('5501')), 'x'.repeat(40));
  assert.deepEqual(none.finish(), []);
});

test('a block that does not decode is damage of the index', async () => {
  const store = new MemoryStore();
  await store.write([{ key: prefix, value: asBytes('\x09\x01a') }]).committed;
  assert.throws(() => new NoteBlocks(store, prefix).get(asBytes('a')), IndexDamage);
});
