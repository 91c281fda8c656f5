import assert from 'node:assert/strict';
import { asBytes, noBytes, u48 } from '../../src/base/bytes.js';
import type { Bytes, Range } from '../../src/storage/store.js';
import { allBytes, everything, keyBytesMax, keyOf, numbered, plain, put, type Holds } from './entries.js';

export function holdsForRanges(holds: Holds): void {
  holds('keys are in the order of their bytes', async (store) => {
    const keys = [
      '\0\0\0',
      '\0\0\0\0',
      'A',
      'Z',
      'a',
      'a\0',
      'a\0b',
      'aa',
      'ab',
      'b',
      '\x7f',
      '\x80',
      '\xc3\xa4',
      '\xff',
      '\xff\0',
    ];
    await put(store, keys.map((key) => ({ key: asBytes(key), value: asBytes(key) })).toReversed());
    assert.deepEqual([...store.keys(everything)], keys);
    assert.deepEqual([...store.keys({ ...everything, reverse: true })], keys.toReversed());
  });

  holds('a range has its start and not its end, in both directions', async (store) => {
    const entries = numbered(30);
    await put(store, entries);
    const cases: [Bytes, Bytes, number, number][] = [
      [asBytes('k010'), asBytes('k020'), 10, 20],
      [asBytes('k0095'), asBytes('k0195'), 10, 20],
      [asBytes('a'), asBytes('k003'), 0, 3],
      [asBytes('k027'), asBytes('z'), 27, 30],
      [asBytes('k010'), asBytes('k010\0'), 10, 11],
      [asBytes('k010'), asBytes('k010'), 10, 10],
      [asBytes('k020'), asBytes('k010'), 0, 0],
      [asBytes('l'), asBytes('z'), 0, 0],
      [asBytes('a'), asBytes('b'), 0, 0],
    ];
    for (const [start, end, from, to] of cases) {
      const expected = entries.slice(from, to);
      const reversed = expected.toReversed();
      const range = { start, end };
      assert.deepEqual([...store.entries(range)].map(plain), expected, `${start} to ${end}`);
      assert.deepEqual(
        [...store.entries({ ...range, reverse: true })].map(plain),
        reversed,
        `${end} to ${start}`,
      );
      assert.deepEqual([...store.keys(range)], expected.map(keyOf));
      assert.deepEqual([...store.keys({ ...range, reverse: true })], reversed.map(keyOf));
      assert.equal(store.count(range), expected.length);
    }
  });

  holds('offset and limit cut a range, in both directions', async (store) => {
    const entries = numbered(30);
    await put(store, entries);
    for (const reverse of [false, true]) {
      const inRange = entries.slice(5, 25);
      if (reverse) inRange.reverse();
      for (const offset of [undefined, 0, 1, 19, 20, 100, 2 ** 32]) {
        for (const limit of [undefined, 0, 1, 7, 20, 100]) {
          const range: Range = {
            start: asBytes('k005'),
            end: asBytes('k025'),
            reverse,
            ...(offset === undefined ? {} : { offset }),
            ...(limit === undefined ? {} : { limit }),
          };
          const expected = inRange.slice(offset ?? 0).slice(0, limit ?? Infinity);
          assert.deepEqual([...store.entries(range)].map(plain), expected, JSON.stringify(range));
          assert.deepEqual(store.list(range, Infinity).map(plain), expected, JSON.stringify(range));
          assert.deepEqual([...store.keys(range)], expected.map(keyOf), JSON.stringify(range));
        }
      }
    }
  });

  holds('a list ends with the entry that brings it to so many bytes', async (store) => {
    const entries = Array.from({ length: 20 }, (_, n) => ({
      key: asBytes(`k${String(n).padStart(3, '0')}`),
      value: asBytes('six by'),
    }));
    await put(store, entries);
    const range = { start: asBytes('k'), end: asBytes('l') };
    for (const [bytesMax, count] of [
      [0, 1],
      [1, 1],
      [10, 1],
      [11, 2],
      [100, 10],
      [1_000, 20],
    ] as const) {
      assert.deepEqual(store.list(range, bytesMax).map(plain), entries.slice(0, count));
      const backwards = store.list({ ...range, reverse: true, offset: 3, limit: 8 }, bytesMax);
      assert.deepEqual(backwards.map(plain), entries.toReversed().slice(3, 3 + Math.min(count, 8)));
      // The beginning of a key counts where it is left out too.
      const ends = store.list({ ...range, keyFrom: 1 }, bytesMax);
      assert.deepEqual(
        ends.map(keyOf),
        entries.slice(0, count).map(({ key }) => key.slice(1)),
      );
    }
    assert.deepEqual(store.list({ start: asBytes('l'), end: asBytes('k') }, 100), []);
    assert.deepEqual(store.list({ ...range, limit: 0 }, 100), []);
    const unbounded = { start: noBytes, end: asBytes('\xff'.repeat(keyBytesMax)) };
    assert.equal(store.list(unbounded, Infinity).filter(({ key }) => key >= 'k').length, 20);
  });

  holds('where heads are asked for, at least they are given, and nothing else', async (store) => {
    await put(store, [
      { key: asBytes('a'), value: asBytes('short') },
      { key: asBytes('b'), value: allBytes.repeat(40) },
      { key: asBytes('c'), value: noBytes },
    ]);
    for (const headBytes of [0, 1, 5, 300, 100_000]) {
      for (const { key, value } of store.entries({ ...everything, headBytes })) {
        const whole = store.get(key)!;
        assert.ok(
          whole.startsWith(value) && value.length >= Math.min(headBytes, whole.length),
          `${key}, ${headBytes}`,
        );
        assert.equal(
          [...store.entries({ start: key, end: asBytes(`${key}\0`) })][0]!.value,
          whole,
          'a read in between',
        );
      }
    }
  });

  holds('an iteration may be left, and begun again', async (store) => {
    await put(store, numbered(30));
    for (const { key } of store.entries(everything)) if (key === 'k003') break;
    for (const key of store.keys(everything)) if (key === 'k003') break;
    const range = store.keys({ start: asBytes('k010'), end: asBytes('k013') });
    assert.deepEqual([...range], ['k010', 'k011', 'k012']);
    assert.equal([...store.entries(everything)].length, 30);
  });

  holds('keys that end with a number are given as that number', async (store) => {
    const numbers = [
      0,
      1,
      255,
      256,
      65_535,
      2 ** 24,
      2 ** 31,
      2 ** 32 - 1,
      2 ** 32,
      2 ** 40 + 7,
      2 ** 48 - 1,
    ];
    await put(
      store,
      numbers.map((number) => ({ key: asBytes(`n${u48(number)}`), value: asBytes(String(number)) })),
    );
    const range = { start: asBytes('n'), end: asBytes('o') };
    const read = (more: Partial<Range>): [number, string][] =>
      [...store.listNumbered({ ...range, ...more })].map(({ key, value }) => [key, value]);
    const expected = numbers.map((number) => [number, String(number)]);
    assert.deepEqual(read({}), expected);
    assert.deepEqual(read({ reverse: true }), expected.toReversed());
    assert.deepEqual(read({ offset: 2, limit: 3 }), expected.slice(2, 5));
    // Other reads in between see keys as they are.
    for (const { key } of store.listNumbered(range)) {
      assert.equal(typeof key, 'number');
      assert.equal([...store.keys({ ...range, limit: 1 })][0], `n${u48(0)}`);
    }
  });
}
