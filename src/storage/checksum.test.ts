import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes } from '../base/bytes.js';
import { hashKey, hashKeyBytes, knownSums, viewsOf, type Sums } from './checksum.js';

const [xxHash32, murmur3] = knownSums.map(({ hash }) => hash) as [Sums['hash'], Sums['hash']];

function hash(of: Sums['hash'], text: string, seed: number, start = 0): number {
  const bytes = new Uint8Array((start + text.length + 7) & ~3);
  bytes.set(Buffer.from(text, 'latin1'), start);
  return of(viewsOf(bytes.buffer), start, text.length, seed) >>> 0;
}

test('the checksum is XXH32', () => {
  const known: [string, number, number][] = [
    ['', 0, 0x02cc5d05],
    ['', 0x9e3779b1, 0x36b78ae7],
    ['a', 0, 0x550d7456],
    ['abc', 0, 0x32d153ff],
    ['Nobody inspects the spammish repetition', 0, 0xe2293b2f],
  ];
  for (const [text, seed, expected] of known) {
    assert.equal(hash(xxHash32, text, seed), expected, text);
    assert.equal(hash(xxHash32, text, seed, 12), expected, `${text}, in the midst of a buffer`);
  }
});

test('a change of any bit of a value of any length gives another checksum', () => {
  for (let length = 1; length <= 70; length++) {
    const text = String.fromCharCode(...Array.from({ length }, (_, i) => (i * 37 + length) & 0xff));
    const whole = hash(xxHash32, text, length);
    for (let bit = 0; bit < length * 8; bit++) {
      const at = bit >> 3;
      const changed = String.fromCharCode(text.charCodeAt(at) ^ (1 << (bit & 7)));
      assert.notEqual(hash(xxHash32, text.slice(0, at) + changed + text.slice(at + 1), length), whole);
    }
  }
});

test('stores of an earlier version have MurmurHash3_x86_32', () => {
  const known: [string, number, number][] = [
    ['', 0, 0],
    ['', 1, 0x514e28b7],
    ['\0\0\0\0', 0, 0x2362f9de],
    ['a', 0x9747b28c, 0x7fa09ea6],
    ['aaa', 0x9747b28c, 0x283e0130],
    ['abcd', 0x9747b28c, 0xf0478627],
    ['Hello, world!', 0x9747b28c, 0x24884cba],
    ['The quick brown fox jumps over the lazy dog', 0x9747b28c, 0x2fa826cd],
  ];
  for (const [text, seed, expected] of known) {
    assert.equal(hash(murmur3, text, seed), expected, text);
    assert.equal(hash(murmur3, text, seed, 12), expected, `${text}, in the midst of a buffer`);
  }
});

test('keys have the same hash as texts and as bytes, and every byte counts', () => {
  const key = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('latin1');
  const whole = hashKey(key);
  assert.equal(hashKeyBytes(Buffer.from(`ab${key}`, 'latin1'), 2, 258), whole);
  for (let at = 0; at < key.length; at++) {
    const other = asBytes(key.slice(0, at) + String.fromCharCode(key.charCodeAt(at) ^ 4) + key.slice(at + 1));
    assert.notEqual(hashKey(other), whole);
  }
});
