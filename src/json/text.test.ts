import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeString } from './text.js';

void test('a string token is read with its escapes undone', () => {
  for (const text of ['', 'plain', 'two\nlines', 'quote " and \\', 'é 日本 😀', '\u0000']) {
    const token = Buffer.from(`[${JSON.stringify(text)}]`);
    assert.equal(decodeString(token, 1, token.length - 1), text);
  }
});
