import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeString } from './text.js';

void test('a string token is read with its escapes undone', () => {
  for (const text of ['', 'plain', 'two\nlines', 'quote " and \\', 'é 日本 😀', '\u0000']) {
    const token = Buffer.from(`[${JSON.stringify(text)}]`);
    assert.equal(decodeString(token, 1, token.length - 1), text);
  }
});

void test('half a surrogate pair becomes the replacement character', () => {
  const token = Buffer.from('"a\\ud800b\\ud83d\\ude00\\udc00"');
  assert.equal(decodeString(token, 0, token.length), 'a\ufffdb😀\ufffd');
});
