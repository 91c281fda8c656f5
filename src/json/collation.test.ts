import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compareJson, compareRaw, compareStrings } from './collation.js';
import { compareBytes, compareKeys } from './compare-keys.js';
import { encodeKey, encodeRawKey } from './order-key.js';

/** Keys in the order in which CouchDB 3.4.3 gave the rows of views over them. */
const orders: Record<string, unknown[]> = {
  'types come one after the other': [
    ...[null, false, true, -1e9, -1, 0, 1, 1e9, '', 'a', 'A', 'zz', [], [null], ['a'], [[]], [{}]],
    ...[{}, { a: null }, { a: 1 }],
  ],
  'numbers are compared by value': [
    ...[
      -9007199254740992, -1.5, -1, 0, 1e-7, 0.1, 1, 1.5, 2, 10, 99.999, 100, 123456789012, 9007199254740992,
    ],
    1e21,
  ],
  'punctuation comes first, then digits, then letters': [
    ...['', ...' _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$019aAbBzZ'],
  ],
  'case matters last': ['a', 'A', 'aa', 'aA', 'Aa', 'AA', 'ab', 'aB', 'Ab', 'AB', 'b', 'B', 'ba', 'Ba'],
  'accents matter before case': [
    ...['å', 'ä', 'ae', 'æ', 'cote', 'coté', 'côte', 'côté', 'e', 'E', 'é', 'É', 'è', 'ê', 'ë', 'ea', 'éa'],
    ...['f', 'n', 'ñ', 'o', 'ö', 'ø', 'oe', 'œ', 'ss', 'ß', 'u', 'ü', 'z'],
  ],
  'other scripts follow': [
    ...[
      '☃',
      '🎉',
      '😀',
      '¥',
      '€',
      '①',
      '½',
      '²',
      '٣',
      'a',
      'Ａ',
      '™',
      'α',
      'Ω',
      'а',
      'А',
      'я',
      'א',
      'ا',
      'अ',
    ],
    ...['ก', '가', '한', 'あ', 'ア', 'ｱ', '中', '文', '漢'],
  ],
  'digits are no numbers': ['-1', '01', '1', '1,0', '1.0', '10', '1a', '2', '9', 'a1', 'a10', 'a2'],
  'white space counts': [' a', 'a', 'a\tb', 'a\nb', 'a ', 'a b', 'a\u00a0b', 'a_b', 'a-b', 'ab'],
  'arrays are compared element by element, the shorter first': [
    ...[[], [null], [true], [1], [1, null], [1, 1], [1, 2], [1, {}], [2], ['a'], ['a', null], ['a', 1]],
    ...[['a', 'b'], ['a', {}], ['b'], [[]], [[], 1], [[1]], [{}]],
  ],
  'elements decide one after the other': [
    ...[
      ['a', null],
      ['a', true],
      ['a', 1.5],
      ['a', 9],
      ['a', 10],
      ['a', '10'],
      ['a', [1]],
      ['A', 1],
      ['á', 1],
    ],
    ['b', 1],
  ],
  'objects are compared member by member as written, the shorter first': [
    ...[
      {},
      { a: null },
      { a: 1 },
      { a: 1, b: 1 },
      { a: 1, b: 2 },
      { a: 2 },
      { a: 'x' },
      { a: [] },
      { a: {} },
    ],
    ...[{ A: 1 }, { aa: 1 }, { b: 0 }, { b: 1 }, { b: 1, a: 1 }, { b: 1, c: 1 }],
  ],
  'a high character ends the strings that begin alike': [
    ...['fo', 'foo', 'FOO', 'foo🎉', 'foo1', 'foobar', 'fooé', 'foo\ufff0', 'fop'],
  ],
};

describe("the order of a view's keys", () => {
  for (const [what, keys] of Object.entries(orders)) {
    test(what, () => {
      for (const [i, a] of keys.entries()) {
        for (const [j, b] of keys.entries()) {
          assert.equal(Math.sign(compareJson(a, b)), Math.sign(i - j), `${JSON.stringify([a, b])}`);
          assert.equal(Math.sign(compareKeys(encodeKey(a), encodeKey(b))), Math.sign(i - j));
        }
      }
    });
  }

  test('composed and decomposed forms, and strings with characters that are ignored, are equal', () => {
    for (const [a, b] of [
      ['\u212b', 'A\u030a'],
      ['\u00e9', 'e\u0301'],
      ['\0', '\x01'],
      ['a', '\ufeffa'],
      ['ab', 'a\x01b'],
      ['ab', 'a\u200bb'],
      [-0, 0],
    ] as const) {
      assert.equal(compareJson([a], [b]), 0);
      assert.equal(compareKeys(encodeKey([a]), encodeKey([b])), 0);
    }
  });

  test('does not follow the language of the machine', () => {
    // Swedish has ö behind z, Estonian z before t, Danish aa behind z.
    assert.ok(compareStrings('ö', 'z') < 0 && compareStrings('t', 'z') < 0 && compareStrings('aa', 'b') < 0);
  });
});

test('the raw order is that of Erlang terms', () => {
  const keys = [
    ...[-1.5, 0, 2, 10, false, null, true, {}, { A: 1 }, { a: 1 }, { a: 1, b: 0 }, { a: false }],
    ...[[], [1], [1, 0], [false], [null], [{}], [[]], ['']],
    ...['', '\0', 'A', 'B', 'a', 'a\0', 'a\x01', 'aa', 'b', '\x7f', 'é', '€', '\uffff', '😀'],
  ];
  for (const [i, a] of keys.entries()) {
    for (const [j, b] of keys.entries()) {
      assert.equal(Math.sign(compareRaw(a, b)), Math.sign(i - j), `${JSON.stringify([a, b])}`);
      assert.equal(compareBytes(encodeRawKey(a), encodeRawKey(b)), Math.sign(i - j));
    }
  }
});
