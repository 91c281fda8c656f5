import assert from 'node:assert/strict';
import { asBytes } from '../../src/base/bytes.js';
import type { Bytes, Entry, Range, Store, Write } from '../../src/storage/store.js';
import type { Random } from '../model/random.js';
import { entriesOf, plain } from './entries.js';

const steps = 1_500;
const batchWritesMax = 12;

/** Few enough keys that they meet again, and in every other way odd. */
function randomKey(random: Random): Bytes {
  const letters = ['\0', 'a', 'b', '\x7f', '\xfe'];
  // Keys of nothing but zero bytes may be the store's own.
  let key = random.pick(letters.slice(1));
  for (let left = random.below(4); left > 0; left--) key += random.pick(letters);
  return random.oneIn(40) ? asBytes(key + 'long'.repeat(random.below(490))) : asBytes(key);
}

/** The simplest store there is: a list of entries, sorted by key. */
class Model {
  readonly entries: Entry[] = [];

  write({ key, value }: Write): void {
    const at = this.entries.findIndex((entry) => entry.key >= key);
    const found = this.entries[at]?.key === key;
    if (value !== undefined)
      this.entries.splice(at < 0 ? this.entries.length : at, found ? 1 : 0, { key, value });
    else if (found) this.entries.splice(at, 1);
  }

  get(key: Bytes): Bytes | undefined {
    return this.entries.find((entry) => entry.key === key)?.value;
  }

  range({ start, end, reverse = false, offset = 0, limit = Infinity }: Range): Entry[] {
    const found = this.entries.filter(({ key }) => key >= start && key < end);
    if (reverse) found.reverse();
    return found.slice(offset, offset + limit);
  }
}

/** Does the same to the store and to the model, and compares what they answer. */
export async function checkAgainstModel(store: Store, random: Random): Promise<void> {
  const model = new Model();
  let before: Promise<void> = Promise.resolve();
  for (let step = 0; step < steps; step++) {
    const batch = Array.from({ length: random.below(batchWritesMax) }, () => randomWrite(random));
    for (const write of batch) model.write(write);
    const { committed } = store.write(batch);
    // Now and then the next batch does not wait for this one.
    if (random.oneIn(3)) before = Promise.all([before, committed]).then(() => {});
    else {
      await Promise.all([before, committed]);
      compare(store, model, random);
    }
  }
  await before;
  assert.deepEqual(entriesOf(store), model.entries);
}

function randomWrite(random: Random): Write {
  const key = randomKey(random);
  if (random.oneIn(3)) return { key, value: undefined };
  return { key, value: asBytes(random.bytes(random.oneIn(50) ? 6_000 : random.below(20))) };
}

function compare(store: Store, model: Model, random: Random): void {
  const key = randomKey(random);
  assert.equal(store.get(key), model.get(key));
  const range: Range = {
    start: randomKey(random),
    end: randomKey(random),
    reverse: random.oneIn(2),
    ...(random.oneIn(2) ? { offset: random.below(20) } : {}),
    ...(random.oneIn(2) ? { limit: random.below(30) } : {}),
  };
  const expected = model.range(range);
  const what = JSON.stringify(range);
  assert.deepEqual([...store.entries(range)].map(plain), expected, what);
  assert.deepEqual(store.list(range, Infinity).map(plain), expected, what);
  assert.deepEqual(
    [...store.keys(range)],
    expected.map((entry) => entry.key),
    what,
  );
  const { start, end } = range;
  assert.equal(store.count({ start, end }), model.range({ start, end }).length, what);
}
