import assert from 'node:assert/strict';
import test from 'node:test';
import { naiveMatches } from './naive-selector.js';
import { RandomSelector } from './random-selector.js';
import { compileSelector } from '../../src/selectors/selector.js';
import { seed } from '../model/random.js';

const rounds = 4000;
const docsEach = 12;

test('a compiled selector means what a plain reading of it says', () => {
  let matched = 0;
  for (let round = 0; round < rounds; round++) {
    const random = new RandomSelector(seed + round);
    const selector = random.selector(3);
    const compiled = compileSelector(selector);
    for (let index = 0; index < docsEach; index++) {
      const doc = random.doc();
      const expected = naiveMatches(selector, doc);
      if (expected) matched++;
      assert.equal(
        compiled.matches(doc),
        expected,
        `TUFFET_SEED=${seed + round}: ${JSON.stringify(selector)} on ${JSON.stringify(doc)}`,
      );
    }
  }
  const share = matched / (rounds * docsEach);
  assert.ok(share > 0.05 && share < 0.95, `only a test if some match and some don't: ${share}`);
});
