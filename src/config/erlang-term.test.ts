import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTerm, parseTerms, textOf } from './erlang-term.js';

test('lists, tuples, strings, atoms and numbers are read, with white space between them', () => {
  assert.deepEqual(parseTerm(' [ {".{6,}", "Too short."} , "\\\\d+", a_1, \'B c\', -7, {}, [] ] '), {
    type: 'list',
    items: [
      {
        type: 'tuple',
        items: [
          { type: 'string', text: '.{6,}' },
          { type: 'string', text: 'Too short.' },
        ],
      },
      { type: 'string', text: '\\d+' },
      { type: 'atom', text: 'a_1' },
      { type: 'atom', text: 'B c' },
      { type: 'number', value: -7 },
      { type: 'tuple', items: [] },
      { type: 'list', items: [] },
    ],
  });
});

test('terms with commas between them are read, none included', () => {
  assert.deepEqual(parseTerms(''), []);
  assert.deepEqual(parseTerms('exp, "iat"')?.map(textOf), ['exp', 'iat']);
  assert.equal(parseTerms('exp,'), undefined);
});

test('escapes in strings stand for their characters', () => {
  assert.equal(textOf(parseTerm(String.raw`"a\"b\\c\n\s\q"`)), 'a"b\\c\n q');
});

test('what is no term is none', () => {
  const wrong = ['', '[', '{a', '"a', '"a\\', 'a b', '[a,]', '[a b]', 'A', '1.5', '}', '['.repeat(50)];
  for (const text of wrong) assert.equal(parseTerm(text), undefined, text);
  assert.equal(textOf(parseTerm('[a]')), undefined);
  assert.equal(textOf(undefined), undefined);
});
