import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeSorted, skipMerged, type SkippedList } from './merge-sorted.js';

const compare = (a: number, b: number): number => a - b;

/** Lists of sorted numbers that are all different. */
function someLists(lists: number, items: number): number[][] {
  const all = Array.from({ length: lists }, (): number[] => []);
  for (let item = 0; item < items; item++) all[Math.floor(Math.random() * lists)]!.push(item);
  return all;
}

class CountedList implements SkippedList<number> {
  looks = 0;
  passed = 0;

  constructor(readonly items: readonly number[]) {}

  at(place: number): number | undefined {
    this.looks++;
    return this.items[this.passed + place];
  }

  pass(count: number, last: number): void {
    this.passed += count;
    assert.equal(this.items[this.passed - 1], last);
  }
}

test('items of several sources come in one order, those that are equal in the order of the sources', () => {
  const sources = [['b1', 'd1'], [], ['a2', 'b2', 'e2']];
  const merged = mergeSorted(sources, (a, b) => (a[0]! < b[0]! ? -1 : a[0]! > b[0]! ? 1 : 0));
  assert.deepEqual([...merged], ['a2', 'b1', 'b2', 'd1', 'e2']);
});

test('sources are left when the merged ones are', () => {
  let left = 0;
  function* source(): Generator<number> {
    try {
      for (let i = 0; ; i++) yield i;
    } finally {
      left++;
    }
  }
  for (const item of mergeSorted([source(), source()], compare)) if (item === 5) break;
  assert.equal(left, 2);
});

test('skipping passes over exactly the first items, with few looks', () => {
  for (let round = 0; round < 300; round++) {
    const items = Math.floor(Math.random() * 2_000);
    const lists = someLists(1 + Math.floor(Math.random() * 4), items).map((each) => new CountedList(each));
    const skip = Math.floor(Math.random() * 2_200);
    assert.equal(skipMerged(lists, skip, compare), Math.min(skip, items));
    const left = lists.flatMap((list) => list.items.slice(list.passed));
    assert.deepEqual(
      left.toSorted(compare),
      Array.from({ length: Math.max(0, items - skip) }, (_, i) => skip + i),
    );
    const looks = lists.reduce((sum, list) => sum + list.looks, 0);
    assert.ok(looks <= 400, `${looks} looks for ${skip} of ${items} in ${lists.length} lists`);
  }
});
