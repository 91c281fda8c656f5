import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numbersOf, plainNumber } from './query-numbers.js';

const cases: [locale: string, text: string, number: number | undefined][] = [
  ['en', '1.5', 1.5],
  ['en-US', '1,234.5', 1_234.5],
  ['de', '1,5', 1.5],
  ['de_DE', '-1.234,5', -1_234.5],
  ['de', '2e3', 2_000],
  ['fr', '1,5', 1.5],
  ['fr', '1.5', undefined],
  ['it-IT', '1.234,5', 1_234.5],
  ['ar-EG', '٣٫٥', 3.5],
  ['hi-u-nu-deva', '१२', 12],
  ['xx', '1.5', 1.5],
  ['en', 'word', undefined],
  ['en', '', undefined],
  ['en', ',', undefined],
];

for (const [locale, text, number] of cases)
  test(`${JSON.stringify(text)} in ${locale} is ${number ?? 'no number'}`, () =>
    assert.equal(numbersOf(locale)!(text), number));

test('a malformed tag has no numbers', () => {
  for (const tag of ['', '-', 'not a tag', 'e', 'en-', 'x'.repeat(10_000)])
    assert.equal(numbersOf(tag), undefined, tag.slice(0, 20));
});

test('without a locale, numbers have a decimal point and no separators', () => {
  assert.deepEqual(['1.5', '-.5e3', '+Infinity', '1,5', '0x10', 'NaN', ''].map(plainNumber), [
    1.5,
    -500,
    Infinity,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
