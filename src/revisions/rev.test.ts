import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../base/errors.js';
import { newRevHash } from './rev-hash.js';
import {
  compareHashes,
  compareRevs,
  formatRev,
  parseHash,
  parseRev,
  revHashBytesMax,
  revPosMax,
} from './rev.js';

const hex = '0123456789abcdef0123456789abcdef';

const parses: [text: string, canonical: string][] = [
  ['1-a', '1-a'],
  ['01-a', '1-a'],
  ['+1-a', '1-a'],
  ['+007-a', '7-a'],
  ['0-0', '0-0'],
  ['1-', '1-'],
  ['1-a-b', '1-a-b'],
  ['1--', '1--'],
  ['1-ABC', '1-ABC'],
  [`3-${hex.toUpperCase()}`, `3-${hex}`],
  [`3-${hex.toUpperCase()}0`, `3-${hex.toUpperCase()}0`],
  [`3-${'G'.repeat(31)}`, `3-${'G'.repeat(31)}`],
  ['1-é€😀', '1-é€😀'],
  [`${revPosMax}-a`, `${revPosMax}-a`],
  [`1-${'x'.repeat(revHashBytesMax)}`, `1-${'x'.repeat(revHashBytesMax)}`],
];

void test('a rev is a generation, a dash and any hash', () => {
  for (const [text, canonical] of parses) assert.equal(formatRev(parseRev(text)), canonical, text);
});

void test('anything else is refused as a bad request', () => {
  const refused = [
    '',
    `3-${'G'.repeat(32)}`,
    'abc',
    '-',
    '-a',
    '-1-a',
    '+-a',
    '++1-a',
    ' 1-a',
    '1 -a',
    '1.0-a',
    '0x1-a',
    '1e2-a',
    '1',
  ];
  refused.push('9007199254740992-a', '9'.repeat(400) + '-a');
  refused.push(`1-${'x'.repeat(revHashBytesMax + 1)}`, `1-${'€'.repeat(revHashBytesMax / 2)}`, '1-\ud800');
  for (const text of refused) {
    assert.throws(
      () => parseRev(text),
      (error) =>
        error instanceof RequestError &&
        error.error === 'bad_request' &&
        error.reason === 'Invalid rev format',
      text,
    );
  }
});

void test('a hash alone is brought to the same form', () => {
  assert.equal(parseHash(hex.toUpperCase()), hex);
  assert.equal(parseHash('ABC'), 'ABC');
});

void test('hashes compare as bytes', () => {
  const rawOf = (byte: string): string => byte.repeat(16);
  const ascending = [
    '',
    rawOf('00'),
    '9',
    'Z',
    rawOf('60'),
    'a',
    'aa',
    'aaa',
    rawOf('61'),
    'abz',
    'b',
    rawOf('7f'),
    'é',
    '\uffff',
    '😀',
    rawOf('ff'),
  ];
  for (let i = 0; i < ascending.length; i++) {
    for (let k = 0; k < ascending.length; k++) {
      const order = Math.sign(compareHashes(ascending[i]!, ascending[k]!));
      assert.equal(order, Math.sign(i - k), `${ascending[i]} with ${ascending[k]}`);
    }
  }
});

void test('a text and the hex digits of its bytes are different hashes', () => {
  const text = 'abcdefghijklmnop';
  const digits = Buffer.from(text).toString('hex');
  assert.notEqual(compareHashes(text, digits), 0);
  assert.equal(Math.sign(compareHashes(text, digits)), -Math.sign(compareHashes(digits, text)));
});

void test('generations compare as numbers, before hashes', () => {
  assert.ok(compareRevs(parseRev('10-a'), parseRev('9-z')) > 0);
  assert.ok(compareRevs(parseRev('2-a'), parseRev('2-b')) < 0);
  assert.equal(compareRevs(parseRev('+2-a'), parseRev('02-a')), 0);
});

void test('the same edit gives the same hash, and each part counts', () => {
  const parent = parseRev(`1-${hex}`);
  const edit = { deleted: false, parent, body: '{"a":1}', attachments: 'x' };
  const others = [
    { ...edit, deleted: true },
    { ...edit, parent: undefined },
    { ...edit, parent: parseRev(`2-${hex}`) },
    { ...edit, parent: parseRev('1-é') },
    { ...edit, parent: parseRev('1-\u01e9') },
    { ...edit, body: '{"a":2}' },
    { ...edit, body: '{"a":1}x', attachments: '' },
    { ...edit, attachments: undefined },
  ];
  const hashes = [edit, ...others].map((each) => newRevHash(each));
  assert.equal(newRevHash({ ...edit }), hashes[0]);
  assert.equal(new Set(hashes).size, hashes.length);
  for (const each of hashes) assert.match(each, /^[0-9a-f]{32}$/);
});

void test('the hash of an edit does not change between versions', () => {
  assert.equal(newRevHash({ deleted: false, body: '{}' }), 'c6ed437e6cd4aba0b4b20d8f5b0d2c32');
  assert.equal(
    newRevHash({ deleted: true, parent: parseRev(`1-${hex}`), body: '{"n":"\xc3\xa9"}' }),
    '47e64e9774e282be67fe64fba4e8487a',
  );
});
