import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
let path: string;

before(async () => {
  const db = await newDb(client);
  await client.put(`${db}/_design/s`, {
    indexes: { i: { index: "function (d) { index('default', d.text) }" } },
  });
  const docs = Array.from({ length: 3_000 }, (_, i) => ({
    text: `word${i} a${i % 7} ${'x'.repeat(i % 100)}y`,
  }));
  assertOk(await client.post(`${db}/_bulk_docs`, { docs }), 201);
  path = `${db}/_design/s/_search/i`;
  assertOk(await client.get(`${path}?q=a1`), 200);
});

const refused: [name: string, q: string][] = [
  ['too many clauses', 'a '.repeat(2_000)],
  ['too deep nesting', '('.repeat(5_000) + 'a' + ')'.repeat(5_000)],
  ['a query that is too long', 'a'.repeat(200_000)],
  ['a phrase of too many words', `"${'b '.repeat(5_000)}"`],
  ['a fuzzy term that is too long', `${'a'.repeat(5_000)}~`],
  ['an expression that cannot be read', '/[/'],
];

const answered: [name: string, q: string][] = [
  ['a leading wildcard', '*1*2*3*'],
  ['many wildcards', `${'*x'.repeat(500)}*z`],
  ['an expression that others try for ages', '/(x+x+)+z/'],
  ['nested repetitions', '/((x*)*)*z/'],
  ['many fuzzy terms', 'wodr1~ '.repeat(10)],
  ['everything, many times', '*:* '.repeat(200)],
  ['a range of all terms', '[a TO zzzz]'],
  ['much escaping', '\\\\'.repeat(15_000)],
];

describe('Hostile queries', () => {
  for (const [name, q] of refused) {
    test(`${name}: refused with 400`, async () => {
      assertRefused(await client.post(path, { q }), 400, 'bad_request');
    });
  }

  for (const [name, q] of answered) {
    test(`${name}: answered while others are served`, async () => {
      let done = false;
      const searching = client.post(path, { q }).finally(() => (done = true));
      let longest = 0;
      while (!done) {
        const begun = performance.now();
        assertOk(await client.get('/_up'), 200);
        longest = Math.max(longest, performance.now() - begun);
      }
      assertOk(await searching, 200);
      // Generous, for a machine that is busy with other things.
      assert.ok(longest < 1_000, `another request took ${longest} ms`);
    });
  }
});
