import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

/** Selectors and documents that are meant to take time or memory, against a text index. */
const client = await startServer();
let db: string;

before(async () => {
  db = await newDb(client);
  assertOk(await client.post(`${db}/_index`, { type: 'text', index: {}, ddoc: 'text', name: 'text' }), 200);
  const docs = Array.from({ length: 1_000 }, (_, n) => ({
    n,
    text: `word${n} a${n % 7} ${'x'.repeat(n % 100)}y`,
    list: Array.from({ length: n % 10 }, (_value, i) => ({ i, s: `s${i}` })),
  }));
  assertOk(await client.post(`${db}/_bulk_docs`, { docs }), 201);
  assertOk(await client.post(`${db}/_find`, { selector: { n: 1 } }), 200);
});

const list = (length: number): number[] => Array.from({ length }, (_, n) => n);
const nested = (depth: number): object =>
  list(depth).reduce<object>((inner) => ({ $elemMatch: { 1: inner } }), { $eq: 1 });

const refused: [name: string, selector: object][] = [
  ['thousands of $text', { $or: list(5_000).map((n) => ({ $text: `word${n}` })) }],
  ['a $text of too many words', { $text: 'b '.repeat(2_000) }],
  ['a $text that is too long', { $text: 'a'.repeat(200_000) }],
  [
    'a long name above many conditions',
    { ['x'.repeat(3_000_000)]: { $or: list(9_000).map((n) => ({ n })) } },
  ],
  ['too many conditions', { $or: list(20_000).map((n) => ({ n })) }],
  ['nesting that is too deep', nested(300)],
];

const answered: [name: string, selector: object][] = [
  ['$text with leading wildcards', { $text: '*1* ?2* *' }],
  ['$text with an expression', { $text: '/(x+x+)+y/' }],
  ['$text of punctuation', { $text: '\\"()[]{}~^:*?'.repeat(600) }],
  ['many $text', { $or: list(100).map((n) => ({ $text: `a${n}` })) }],
  ['many alternatives', { $or: list(2_000).map((n) => ({ n: { $gt: n } })) }],
  ['many conditions', { $and: list(2_000).map((n) => ({ n: { $gte: -n } })) }],
  ['a choice of many values', { n: { $in: list(20_000) } }],
  ['a choice of many values of a long name', { ['x'.repeat(1_000_000)]: { $in: list(9_000) } }],
  ['a field of many parts', { [list(900).join('.')]: 1 }],
  ['arrays in arrays', { list: nested(90) }],
  ['a huge value', { text: 'z'.repeat(500_000) }],
  ['a huge value of other characters', { text: { $gt: 'é'.repeat(500_000) } }],
  ['a huge array', { list: { $eq: list(20_000) } }],
  ['patterns', { $or: list(3).map(() => ({ text: { $regex: '(x+x+)+z' } })) }],
];

/** The longest time that another request took meanwhile. */
async function longestWait(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const ended = work.finally(() => (isDone = true));
  let longest = 0;
  while (!isDone) {
    const begun = performance.now();
    assertOk(await client.get('/_up'), 200);
    longest = Math.max(longest, performance.now() - begun);
  }
  await ended;
  return longest;
}

describe('Hostile selectors', () => {
  for (const [name, selector] of refused)
    test(`${name}: refused with 400`, async () => {
      for (const path of ['_find', '_explain'])
        if (path === '_find' || name !== 'a $text of too many words')
          assertRefused(await client.post(`${db}/${path}`, { selector }), 400);
    });

  for (const [name, selector] of answered)
    test(`${name}: answered while others are served`, async () => {
      for (const path of ['_find', '_explain']) {
        const asked = client.post(`${db}/${path}`, { selector, use_index: 'text', limit: 5 });
        const longest = await longestWait(asked);
        assertOk(await asked, 200);
        // Generous, for a machine that is busy with other things.
        assert.ok(longest < 2_000, `another request waited for ${longest} ms`);
      }
    });
});

test('hostile documents are indexed while others are served', async () => {
  const own = await newDb(client);
  assertOk(await client.post(`${own}/_index`, { type: 'text', index: {}, ddoc: 'text', name: 'text' }), 200);
  const deep = list(400).reduce<object>((inner) => ({ a: inner }), {});
  const docs: object[] = [
    { _id: 'wide', list: list(20_000).map((n) => ({ [`k${n % 100}`]: n })) },
    { _id: 'deep', deep, arrays: JSON.parse('['.repeat(400) + ']'.repeat(400)) as unknown },
    { _id: 'long', text: 'é'.repeat(1_000_000), word: 'a'.repeat(1_000_000) },
    { _id: 'names', ['n'.repeat(100_000)]: 1, constructor: { toString: 1 } },
  ];
  assertOk(await client.post(`${own}/_bulk_docs`, { docs }), 201);
  const find = (selector: object): Promise<unknown> =>
    client
      .post(`${own}/_find`, { selector, use_index: 'text', fields: ['_id'] })
      .then(({ body }) => (body.docs as { _id: string }[]).map(({ _id }) => _id));
  assert.ok((await longestWait(find({ _id: 'wide' }))) < 2_000);
  assert.deepEqual(await find({ list: { $elemMatch: { k7: 19_907 } } }), ['wide']);
  assert.deepEqual(await find({ 'deep.a.a.a': { $type: 'object' } }), ['deep']);
  assert.deepEqual(await find({ word: 'a'.repeat(1_000_000) }), ['long']);
  assert.deepEqual(await find({ text: { $regex: '^é' } }), ['long']);
  assert.deepEqual(await find({ ['n'.repeat(100_000)]: 1 }), ['names']);
  assert.deepEqual(await find({ 'constructor.toString': 1 }), ['names']);
});
