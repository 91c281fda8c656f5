import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WordTable } from './word-table.js';

const charactersOf = (text: string): Uint16Array =>
  Uint16Array.from(text, (character) => character.charCodeAt(0));

test('a table of words finds what a map of strings finds', () => {
  let state = 7;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const table = new WordTable(7);
  const map = new Map<string, number>();
  for (let i = 0; i < 30_000; i++) {
    const word = Array.from({ length: 1 + random(6) }, () => 'abcdeéß’'[random(8)]).join('');
    const text = `${'x'.repeat(random(5))}${word} and more`;
    const start = text.indexOf(word);
    const characters = charactersOf(text);
    const found = table.find(characters, start, start + word.length);
    assert.equal(found, map.get(word));
    if (found !== undefined) continue;
    const value = random(3) - 2 + i;
    table.add(characters, start, start + word.length, value);
    map.set(word, value);
  }
  assert.ok(map.size > 5_000);
});

test('a word of any length is found', () => {
  const table = new WordTable(7);
  const long = charactersOf('a'.repeat(40_000));
  table.add(long, 0, long.length, -1);
  assert.equal(table.find(long, 0, long.length), -1);
  assert.equal(table.find(long, 1, long.length), undefined);
});
