import assert from 'node:assert/strict';
import test from 'node:test';
import { RandomJson } from '../../../test/support/random-json.js';
import { RequestError } from '../../base/errors.js';
import { Matcher } from './matcher.js';
import { nativeFor } from './native.js';
import { parsePattern } from './parse-pattern.js';
import { compilePattern } from './program.js';
import { compileRegex } from './regex.js';

const finds = (pattern: string, text: string): boolean => {
  const careful = new Matcher(compilePattern(parsePattern(pattern))).matches(text);
  assert.equal(compileRegex(pattern)(text), careful, `${pattern} on ${JSON.stringify(text)}`);
  return careful;
};

/** A pattern that means the same to JavaScript. */
function randomPattern(random: RandomJson, depth: number): string {
  const kind = random.below(depth > 0 ? 12 : 6);
  if (kind < 4) return random.pick(['a', 'b', 'c', 'é', '😀', '.', '[ab]', '[^a]', '\\w', '\\d', '\\S']);
  if (kind === 4) return random.pick(['^', '$', '\\b', '\\B', '']);
  const below = (): string => randomPattern(random, depth - 1);
  if (kind === 6) return `(?:${below()}|${below()})`;
  if (kind === 7) return `(${below()})${random.pick(['*', '+', '?', '*?', '{2}', '{1,3}', '{2,}'])}`;
  if (kind === 8) return `${random.pick(['a', '[bc]', '.'])}${random.pick(['*', '+', '?', '{0,2}'])}`;
  if (kind === 9) return `(?${random.pick(['=', '!'])}${below()})`;
  if (kind === 10) return `(?<${random.pick(['=', '!'])}${random.pick(['a', 'bc', '😀', 'a|bc'])})`;
  return below() + below();
}

test('a pattern finds what the same pattern of JavaScript finds', () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  let found = 0;
  const rounds = 20_000;
  for (let round = 0; round < rounds; round++) {
    const random = new RandomJson(seed + round);
    const pattern = randomPattern(random, 3);
    // JavaScript tries what is empty in the middle of a surrogate pair, too.
    const letters = ['a', 'b', 'c', 'é', '1', ' ', ...(/\(\?[=!<]|\\B/.test(pattern) ? [] : ['😀'])];
    const text = Array.from({ length: random.below(9) }, () => random.pick(letters)).join('');
    const expected = new RegExp(pattern, 'u').test(text);
    if (expected) found++;
    assert.equal(finds(pattern, text), expected, `SEED=${seed + round}: ${pattern} on "${text}"`);
  }
  assert.ok(found > rounds / 10 && found < (rounds * 9) / 10, `${found} of ${rounds}`);
});

test("what Perl's patterns can do and JavaScript's can't", () => {
  const yes: [string, string][] = [
    ['(?i)ÄPFEL', 'äpfel'],
    ['a(?i)b|c', 'C'],
    ['(?i:a)b', 'Ab'],
    ['(?s)a.b', 'a\nb'],
    ['(?m)^b$', 'a\nb\nc'],
    ['(?x) a b # comment\n c', 'abc'],
    ['^b\\Z', 'b\n'],
    ['b$', 'b\n'],
    ['\\Ab\\z', 'b'],
    ['[[:alpha:]_]+\\d', 'x_1'],
    ['[[:^digit:]]', 'x'],
    ['\\Qa.b\\E+', 'a.bbb'],
    ['\\x{1F600}', '😀'],
    ['(?P<name>a)(?<other>b)', 'ab'],
    ['\\h\\R', ' \r\n'],
    ['[]a]', ']'],
    ['a{,2}', 'a{,2}'],
    ['x{', 'x{'],
    ['\\p{Han}\\p{L}\\pN', '日é1'],
    ['\\p{^Lu}', 'a'],
    ['a(?#comment)b', 'ab'],
    ['(?i)[a-z]', 'Q'],
    ['(?i)ς', 'σ'],
    ['\\e\\t', '\u001b\t'],
    ['[a\\-z]', '-'],
    ['[\\w-]', '-'],
  ];
  const no: [string, string][] = [
    ['(?i)[^a]', 'A'],
    ['a(?-i)B', 'ab'],
    ['b\\z', 'b\n'],
    ['\\d', '٣'],
    ['a.b', 'a\nb'],
    ['[\\w-]', '+'],
  ];
  for (const [pattern, text] of yes) assert.equal(finds(pattern, text), true, `${pattern} on ${text}`);
  for (const [pattern, text] of no) assert.equal(finds(pattern, text), false, `${pattern} on ${text}`);
});

test('patterns that are wrong or can not be bounded are refused, with the reason', () => {
  for (const pattern of [
    '(',
    ')',
    '[a-',
    '*a',
    'a**',
    'a+{2}',
    'a{2}{3}',
    'a*??',
    'a{3,2}',
    '[z-a]',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    '(?>a)',
    'a++',
    '(?R)',
    '(*SKIP)',
    '(?<=a*)b',
    '\\p{Nope}',
    '[[:nope:]]',
    '(a{1000}){1000}',
    `${'('.repeat(101)}${')'.repeat(101)}`,
    'a\\',
  ])
    assert.throws(
      () => compileRegex(pattern),
      (error) => error instanceof RequestError && error.error === 'bad_arg',
      pattern,
    );
});

test('no pattern takes long, whatever the text', () => {
  const long = 'a'.repeat(300_000);
  for (const pattern of [
    '^(a+)+$',
    '(a|a)*b',
    '(a*)*b',
    '(.*)(.*)(.*)(.*)b',
    '\\d+\\s*$',
    'a*a*a*a*a*a*b',
    '(?=(a+)+b)a',
    '(a?){50}a{50}b',
    'x*$',
  ]) {
    const regex = compileRegex(pattern);
    const started = performance.now();
    regex(`${long}!`);
    for (let length = 1; length < 60; length++) regex(`${'a'.repeat(length)}!`);
    assert.ok(performance.now() - started < 5_000, `${pattern}: ${performance.now() - started} ms`);
  }
});

test('expressions that go back and try again are not used where the tries are many, at a fixed place either', () => {
  const optional = `^(?:${'x?'.repeat(40)}${'x'.repeat(40)}z)$`;
  const choices = `^${'(?:x|xx)'.repeat(40)}z$`;
  const empty = [`^()${optional.slice(1)}`, `^(?:|)${optional.slice(1)}`, `^\\Q\\E${choices.slice(1)}`];
  for (const pattern of [optional, choices, ...empty]) {
    assert.equal(nativeFor(parsePattern(pattern)), undefined, pattern);
    assert.equal(compileRegex(pattern)('x'.repeat(60)), false);
    assert.equal(compileRegex(pattern)(`${'x'.repeat(60)}z`), true);
  }
  assert.equal(nativeFor(parsePattern('^(?:[ab]|\\w|)*y$')), undefined);
  assert.ok(nativeFor(parsePattern('^(?:colou?r|x{1,3}y)$')));
});
