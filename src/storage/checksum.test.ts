import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashKey, hashKeyBytes, murmur3, viewsOf } from './checksum.js';

function hash(text: string, seed: number, start = 0): number {
  const bytes = new Uint8Array((start + text.length + 7) & ~3);
  bytes.set(Buffer.from(text, 'latin1'), start);
  return murmur3(viewsOf(bytes.buffer), start, text.length, seed) >>> 0;
}

test('the checksum is MurmurHash3_x86_32', () => {
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
    assert.equal(hash(text, seed), expected, text);
    assert.equal(hash(text, seed, 12), expected, `${text}, in the midst of a buffer`);
  }
});

test('keys have the same hash as texts and as bytes, and every byte counts', () => {
  const key = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('latin1');
  const whole = hashKey(key);
  assert.equal(hashKeyBytes(Buffer.from(`ab${key}`, 'latin1'), 2, 258), whole);
  for (let at = 0; at < key.length; at++) {
    const other = key.slice(0, at) + String.fromCharCode(key.charCodeAt(at) ^ 4) + key.slice(at + 1);
    assert.notEqual(hashKey(other), whole);
  }
});
