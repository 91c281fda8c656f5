import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notYet } from './not-yet.js';
import { playFamilies } from './play-families.js';
import { readFamilies } from './scenario.js';

const families = readFamilies();
await playFamilies(families.filter(({ name }) => !name.endsWith('-2')));

test('the list of what is not built yet names scenarios that exist', () => {
  const names = new Set(families.flatMap(({ scenarios }) => scenarios.map((scenario) => scenario.name)));
  assert.deepEqual(
    [...notYet.keys()].filter((name) => !names.has(name)),
    [],
  );
});

test('each scenario of a family has a name of its own', () => {
  for (const { scenarios } of families) {
    const names = scenarios.map((scenario) => scenario.name);
    assert.equal(new Set(names).size, names.length);
  }
});
