import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random, seed } from '../../test/model/random.js';
import { wildcardPattern } from './patterns.js';

/** The same pattern as an expression of JavaScript. */
function expressionOf(pattern: string): RegExp {
  const parts = Array.from(pattern.matchAll(/\\?[^]|\\$/gu), ([part]) =>
    part === '*' ? '[^]*' : part === '?' ? '[^]' : part.at(-1)!.replace(/[\\*?]/g, '\\$&'),
  );
  return new RegExp(`^(?:${parts.join('')})$`, 'u');
}

test(`wildcards match what the same regular expressions do (seed ${seed})`, () => {
  const random = new Random(seed);
  const textOf = (letters: string[], length: number): string =>
    Array.from({ length: random.below(length) }, () => random.pick(letters)).join('');
  for (let round = 0; round < 20_000; round++) {
    const pattern = textOf(['a', 'b', '*', '?', '\\*', '\\a', '\\\\'], 8);
    const term = textOf(['a', 'b', '*', '\\'], 9);
    const { matches, prefix, isPrefix } = wildcardPattern(pattern);
    assert.equal(matches(term), expressionOf(pattern).test(term), JSON.stringify([pattern, term]));
    if (matches(term)) assert.ok(term.startsWith(prefix), JSON.stringify([pattern, term]));
    if (isPrefix) assert.equal(matches(term), term.startsWith(prefix), JSON.stringify([pattern, term]));
  }
});

test('a question mark stands for one character, however many code units it has', () => {
  const { matches, prefix } = wildcardPattern('😀?é*😀');
  assert.equal(prefix, '😀');
  assert.ok(matches('😀😀é😀'));
  assert.ok(matches('😀aé😀😀'));
  assert.ok(!matches('😀😀😀é😀'));
  assert.ok(!matches('😀aé'));
});

test('the longest term is compared with a long pattern in less time than others can wait', () => {
  const term = 'a'.repeat(4_000);
  for (const run of ['a'.repeat(2_000), 'a?'.repeat(1_000)])
    for (const pattern of [`*${run}b`, `*${run}b*`]) {
      const { matches } = wildcardPattern(pattern);
      const took = Array.from({ length: 5 }, () => {
        const before = process.cpuUsage();
        assert.ok(!matches(term));
        return process.cpuUsage(before).user / 1_000;
      });
      assert.ok(Math.min(...took) < 25, `${Math.min(...took)} ms`);
    }
});
