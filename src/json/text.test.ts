import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memberName } from './names.js';
import { decodeString, fromByteString, quote, quoteBytes, toByteString } from './text.js';
import { bytesBefore, hashSeed, hashStep, hashText, stopsIn } from './words.js';

const texts = [
  '',
  'plain',
  'doc-1',
  'é',
  '€😀',
  'a"b\\c',
  '\0\x1f\n\t\x7f',
  'x'.repeat(300),
  'line\u2028',
  '\u00ff\u0080',
];

void test('byte strings hold the UTF-8 bytes, and give the text back', () => {
  for (const text of texts) {
    assert.deepEqual(Buffer.from(toByteString(text), 'latin1'), Buffer.from(text));
    assert.equal(fromByteString(toByteString(text)), text);
  }
});

void test('quote gives the string token that JSON.stringify gives', () => {
  for (const text of texts) {
    assert.equal(fromByteString(quote(text)), JSON.stringify(text));
    const bytes = Buffer.from(`<${text}>`);
    assert.equal(quoteBytes(bytes, 1, bytes.length - 1), quote(text));
  }
});

void test('half a surrogate pair becomes U+FFFD', () => {
  assert.equal(fromByteString(quote('a\ud800b😀')), '"a\ufffdb😀"');
  const token = Buffer.from('"a\\ud800b\\ud83d\\ude00\\udc00"');
  assert.equal(decodeString(token, 0, token.length), 'a\ufffdb😀\ufffd');
});

void test('decodeString reads what quote writes', () => {
  for (const text of texts) {
    const token = Buffer.from(`[${quote(text)}]`, 'latin1');
    assert.equal(decodeString(token, 1, token.length - 1), text);
  }
});

void test('member names are read, known or not', () => {
  for (const name of ['_id', '_ix', '_rev', '_revisions', 'docs', '', 'é', '_']) {
    const token = Buffer.from(`{"${name}"`);
    assert.equal(memberName(token, 1, token.length), name);
  }
});

void test('the first stop in a word is found, whatever stands around it', () => {
  const samples = [0x00, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f, 0x80, 0xa2, 0xdc, 0xff];
  const stops = (byte: number) => byte < 0x20 || byte === 0x22 || byte === 0x5c;
  const word = Buffer.alloc(4);
  for (let index = 0; index < samples.length ** 4; index++) {
    for (let at = 0, rest = index; at < 4; at++, rest = Math.floor(rest / samples.length)) {
      word[at] = samples[rest % samples.length]!;
    }
    const expected = word.findIndex(stops);
    const found = stopsIn(word.readInt32LE(0));
    assert.equal(found === 0 ? -1 : bytesBefore(found), expected, word.toString('hex'));
  }
});

void test('the hash of a text goes over its bytes by words', () => {
  assert.equal(hashText(''), hashSeed);
  assert.equal(hashText('abcd€'), hashStep(hashStep(hashSeed, 0x64636261), 0xac82e2));
});
