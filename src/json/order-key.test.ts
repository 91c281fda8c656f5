import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compareJson, compareRaw, compareStrings } from './collation.js';
import { compareBytes, compareKeys } from './compare-keys.js';
import { asBytes, fromBytes, toBytes } from '../base/bytes.js';
import { keyPrefix } from './key-prefix.js';
import { encodeKey, encodeKeyText, encodeRawKey } from './order-key.js';
import { RandomKeys } from '../../test/support/random-keys.js';
import { seed as ofRun } from '../../test/model/random.js';

const seeds = [1, 2, ofRun];
const pairs = 6_000;

for (const seed of seeds) {
  describe(`random keys, seed ${seed}`, () => {
    test('keys compare like the values they are of', () => {
      const random = new RandomKeys(seed);
      for (let i = 0; i < pairs; i++) {
        const a = random.key();
        const b = random.below(4) === 0 ? structuredClone(a) : random.key();
        const what = JSON.stringify([a, b]);
        assert.equal(sign(compareKeys(encodeKey(a), encodeKey(b))), sign(compareJson(a, b)), what);
        assert.equal(compareBytes(encodeRawKey(a), encodeRawKey(b)), sign(compareRaw(a, b)), what);
      }
    });

    test('a text has the key of its value', () => {
      const random = new RandomKeys(seed);
      for (let i = 0; i < pairs; i++) {
        const value = random.below(2) === 0 ? random.key() : random.asciiKey();
        const text = toBytes(JSON.stringify(value));
        assert.equal(encodeKeyText(text), encodeKey(JSON.parse(fromBytes(text))), text);
      }
    });

    test('byte order is enough where all strings are ASCII', () => {
      const random = new RandomKeys(seed);
      for (let i = 0; i < pairs; i++) {
        const [a, b] = [random.asciiKey(), random.asciiKey()];
        const order = compareBytes(encodeKey(a), encodeKey(b));
        assert.equal(order, sign(compareJson(a, b)), JSON.stringify([a, b]));
        assert.ok(encodeKey(a).charCodeAt(0) < 0x80);
      }
    });

    test('keys of strings compare as the collator compares the strings', () => {
      const random = new RandomKeys(seed);
      const string = (): string => (random.below(3) === 0 ? random.wide() : random.ascii());
      for (let i = 0; i < pairs; i++) {
        const [a, b] = [string(), string()];
        const order = sign(compareKeys(encodeKey(a), encodeKey(b)));
        assert.equal(order, sign(compareStrings(a, b)), JSON.stringify([a, b]));
      }
    });

    test('sorted keys are the keys of sorted values', () => {
      const random = new RandomKeys(seed);
      const values = Array.from({ length: 3_000 }, () => random.key());
      const byValue = values.toSorted(compareJson).map(encodeKey);
      const byKey = values.map(encodeKey).sort(compareKeys);
      byKey.forEach((key, i) => assert.equal(compareKeys(key, byValue[i]!), 0));
    });

    test('the beginning of a key bounds all keys that begin with the same elements', () => {
      const random = new RandomKeys(seed);
      for (let i = 0; i < pairs; i++) checkPrefix(random);
    });
  });
}

const sign = (value: number): number => (value < 0 ? -1 : value > 0 ? 1 : 0);

function checkPrefix(random: RandomKeys): void {
  const a = random.key();
  const b = random.below(2) === 0 && Array.isArray(a) ? [...(a as unknown[]), random.key(1)] : random.key();
  const level = 1 + random.below(2);
  for (const [encode, compareValues, compare] of [
    [encodeKey, compareJson, compareKeys],
    [encodeRawKey, compareRaw, compareBytes],
  ] as const) {
    const prefix = keyPrefix(encode(a), level);
    assert.equal(prefix !== undefined, Array.isArray(a) && a.length >= level);
    if (prefix === undefined || !Array.isArray(a)) continue;
    const isShared =
      Array.isArray(b) && b.length >= level && compareValues(a.slice(0, level), b.slice(0, level)) === 0;
    const isInside = compare(prefix, encode(b)) < 0 && compare(encode(b), asBytes(`${prefix}\xff`)) < 0;
    assert.equal(isInside, isShared, JSON.stringify([a, b, level]));
  }
}

test('texts of all plain characters, numbers and forms have the keys of their values', () => {
  const printable = Array.from({ length: 95 }, (_, i) => String.fromCharCode(0x20 + i));
  const values = [
    ...printable,
    printable.join(''),
    printable.slice(33).join('').repeat(50),
    ...[0, -0, 1.5, -1e300, 1e-7, 123456789012345680000],
    ...[[], [[]], [[], 1], [null, true, false], ['A', ['b', [3]]], { a: 1 }, [{}], [{ b: ['c'] }, 2]],
    ...['', '\\', '"', '\u0000', '\u007f', 'tab\t'],
  ];
  for (const value of values) {
    const text = toBytes(JSON.stringify(value));
    assert.equal(encodeKeyText(text), encodeKey(value), text);
  }
  for (const text of ['1e400', '-0', '1.0', '[1E2,2e+3]'].map(asBytes))
    assert.equal(encodeKeyText(text), encodeKey(JSON.parse(text)), text);
  for (const text of ['', '"', '[1', 'nul', '1,2', '[1]]'].map(asBytes))
    assert.throws(() => encodeKeyText(text), text);
});

test('a key of ten million characters is no trouble, and leaves none', () => {
  const long = 'aB'.repeat(5_000_000);
  assert.ok(compareKeys(encodeKey(long), encodeKey(`${long}a`)) < 0);
  assert.ok(compareKeys(encodeKey([long, 'é']), encodeKey([`${long}é`])) < 0);
  assert.equal(encodeKey([1, 'é']).length, 1 + 9 + 4 + 1);
});
