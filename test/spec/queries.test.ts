import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused, assertTypes } from '../support/expect.js';
import type { Answer } from '../support/http-client.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
const people = [
  { _id: 'a', name: 'Ada', age: 36, address: { city: 'London' }, tags: ['math', 'poet'] },
  { _id: 'b', name: 'Alan', age: 41, address: { city: 'London' }, tags: ['math'] },
  { _id: 'c', name: 'Grace', age: 85, address: { city: 'New York' }, tags: [] },
  { _id: 'd', name: 'Linus', age: null },
];
await client.post(`${db}/_bulk_docs`, { docs: people });

const find = (body: object): Promise<Answer> => client.post(`${db}/_find`, body);
const ids = async (selector: object): Promise<string[]> => {
  const answer = await find({ selector, fields: ['_id'] });
  assertOk(answer, 200);
  return (answer.body.docs as { _id: string }[]).map(({ _id }) => _id);
};

describe('The body of _find', () => {
  test('selector is required', async () => {
    assertRefused(await find({ limit: 1 }), 400, 'missing_required_key');
  });

  test('a condition without a field is about the whole document, which is never empty', async () => {
    const bare = await newDb(client);
    await client.put(`${bare}/z`, {});
    for (const [selector, count] of [
      [{ $and: [{}] }, 0],
      [{ $or: [{}] }, 0],
      [{ $nor: [{}] }, 1],
      [{ $and: [{ $ne: {} }] }, 1],
    ] as const)
      assert.equal(
        (await client.post(`${bare}/_find`, { selector })).body.docs.length,
        count,
        JSON.stringify(selector),
      );
  });

  test('a limit or skip may be larger than any database', async () => {
    assert.equal((await find({ selector: {}, limit: 1e20 })).body.docs.length, people.length);
    assert.deepEqual((await find({ selector: {}, skip: 1e20 })).body.docs, []);
  });

  test('limit is 25 where nothing is said, and what is said otherwise', async () => {
    const many = await newDb(client);
    await client.post(`${many}/_bulk_docs`, { docs: Array.from({ length: 30 }, (_, n) => ({ n })) });
    assert.equal((await client.post(`${many}/_find`, { selector: {} })).body.docs.length, 25);
    assert.equal((await client.post(`${many}/_find`, { selector: {}, limit: 28 })).body.docs.length, 28);
    assert.equal((await client.post(`${many}/_find`, { selector: {}, skip: 26 })).body.docs.length, 4);
  });

  test('fields gives those alone, and adds no id', async () => {
    const { body } = await find({ selector: { _id: 'a' }, fields: ['name', 'address.city', 'nothing'] });
    assert.deepEqual(body.docs, [{ name: 'Ada', address: { city: 'London' } }]);
  });

  test('whole documents come with their id and revision', async () => {
    const { body } = await find({ selector: { _id: 'd' } });
    assert.equal(body.docs[0]._id, 'd');
    assert.match(body.docs[0]._rev, /^1-/);
  });

  test('an answer has documents, a bookmark, and a warning where no index matches', async () => {
    const answer = await find({ selector: { age: 36 } });
    assertOk(answer, 200);
    assertTypes(answer.body, { docs: 'array', bookmark: 'string', warning: 'string' });
    assert.equal(answer.body.execution_stats, undefined);
  });

  test('execution_stats tells what was looked at', async () => {
    const { body } = await find({ selector: { age: 36 }, execution_stats: true });
    assertTypes(body.execution_stats, {
      total_keys_examined: 'number',
      total_docs_examined: 'number',
      total_quorum_docs_examined: 'number',
      results_returned: 'number',
      execution_time_ms: 'number',
    });
    assert.equal(body.execution_stats.total_docs_examined, 4);
    assert.equal(body.execution_stats.results_returned, 1);
    assert.equal(body.execution_stats.total_quorum_docs_examined, 0);
    const quorum = await find({ selector: { age: 36 }, execution_stats: true, r: 2 });
    assert.equal(quorum.body.execution_stats.total_quorum_docs_examined, 4);
  });

  test('a bookmark leads to the next page', async () => {
    const first = await find({ selector: {}, limit: 3 });
    const second = await find({ selector: {}, limit: 3, bookmark: first.body.bookmark });
    assert.deepEqual(
      [...first.body.docs, ...second.body.docs].map(({ _id }: { _id: string }) => _id),
      ['a', 'b', 'c', 'd'],
    );
  });

  test('update, stable and stale are taken', async () => {
    for (const body of [{ update: false }, { stable: true }, { stale: 'ok' }, { stale: 'false' }, { r: 3 }])
      assertOk(await find({ selector: {}, ...body }), 200);
    assertRefused(await find({ selector: {}, stale: 'perhaps' }), 400);
  });
});

describe('Selectors', () => {
  test('a plain value is equality; dotted names and nested objects address subfields', async () => {
    assert.deepEqual(await ids({ name: 'Ada' }), ['a']);
    assert.deepEqual(await ids({ 'address.city': 'London' }), ['a', 'b']);
    assert.deepEqual(await ids({ address: { city: 'London' }, age: 41 }), ['b']);
  });

  const cases: [string, object, string[]][] = [
    ['$and', { $and: [{ age: { $gt: 36 } }, { name: 'Alan' }] }, ['b']],
    ['$or', { $or: [{ name: 'Ada' }, { name: 'Grace' }] }, ['a', 'c']],
    ['$not', { $not: { name: 'Ada' } }, ['b', 'c', 'd']],
    ['$nor', { $nor: [{ name: 'Ada' }, { name: 'Grace' }] }, ['b', 'd']],
    ['$all', { tags: { $all: ['poet', 'math'] } }, ['a']],
    ['$elemMatch', { tags: { $elemMatch: { $eq: 'math' } } }, ['a', 'b']],
    ['$allMatch', { tags: { $allMatch: { $eq: 'math' } } }, ['b']],
    ['$lt', { age: { $lt: 41 } }, ['a', 'd']],
    ['$lte', { age: { $lte: 41 } }, ['a', 'b', 'd']],
    ['$eq', { age: { $eq: 41 } }, ['b']],
    ['$ne', { age: { $ne: 41 } }, ['a', 'c', 'd']],
    ['$gte', { age: { $gte: 41 } }, ['b', 'c']],
    ['$gt', { age: { $gt: 41 } }, ['c']],
    ['$exists', { tags: { $exists: false } }, ['d']],
    ['$type', { age: { $type: 'null' } }, ['d']],
    ['$in', { name: { $in: ['Ada', 'Nobody'] } }, ['a']],
    ['$nin', { name: { $nin: ['Ada', 'Alan'] } }, ['c', 'd']],
    ['$size', { tags: { $size: 1 } }, ['b']],
    ['$size of what is no array', { name: { $size: 3 } }, []],
    ['$mod', { age: { $mod: [5, 1] } }, ['a', 'b']],
    ['$regex', { name: { $regex: '^A' } }, ['a', 'b']],
    ['$regex of what is no text', { age: { $regex: '3' } }, []],
  ];
  for (const [name, selector, expected] of cases)
    test(`${name} finds ${expected.length === 0 ? 'nothing' : expected.join(', ')}`, async () => {
      assert.deepEqual(await ids(selector), expected);
    });

  test('$mod with arguments that are no integers gives 404', async () => {
    for (const argument of [
      [1.5, 0],
      [2, 0.5],
      ['a', 0],
    ])
      assertRefused(await find({ selector: { age: { $mod: argument } } }), 404, 'bad_arg');
  });
});

describe('Sorting and indexes', () => {
  test('a sort needs an index with its fields; then it has the order, in one direction', async () => {
    const sorted = await newDb(client);
    await client.post(`${sorted}/_bulk_docs`, { docs: people });
    const query = { selector: { age: { $gt: null } }, fields: ['_id'] };
    assertRefused(await client.post(`${sorted}/_find`, { ...query, sort: ['age'] }), 400, 'no_usable_index');
    await client.post(`${sorted}/_index`, { index: { fields: ['age'] }, ddoc: 'ages', name: 'age' });
    for (const [sort, order] of [
      [['age'], ['a', 'b', 'c']],
      [[{ age: 'asc' }], ['a', 'b', 'c']],
      [[{ age: 'desc' }], ['c', 'b', 'a']],
    ] as const) {
      const { body } = await client.post(`${sorted}/_find`, { ...query, sort });
      assert.deepEqual(
        body.docs.map(({ _id }: { _id: string }) => _id),
        order,
      );
      assert.equal(body.warning, undefined);
    }
    for (const use_index of ['ages', ['ages', 'age'], '_design/ages'])
      assertOk(await client.post(`${sorted}/_find`, { ...query, use_index }), 200);
    const mixed = { ...query, sort: [{ age: 'asc' }, { name: 'desc' }] };
    assertRefused(await client.post(`${sorted}/_find`, mixed), 400, 'unsupported_mixed_sort');
    const twoKeys = { ...query, sort: [{ age: 'asc', name: 'asc' }] };
    assertRefused(await client.post(`${sorted}/_find`, twoKeys), 400, 'invalid_sort_field');
  });

  test('a view of a design document written by hand is an index if it has options', async () => {
    const written = await newDb(client);
    const map = { fields: { n: 'asc' }, partial_filter_selector: {} };
    const views = {
      bare: { map, reduce: '_count' },
      whole: { map, reduce: '_count', options: { def: { fields: ['n'] } } },
    };
    assertOk(await client.put(`${written}/_design/d`, { language: 'query', views }), 201);
    const { indexes } = (await client.get(`${written}/_index`)).body;
    const names = (indexes as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(names, ['_all_docs', 'whole']);
    assertOk(await client.get(`${written}/_design/d/_view/bare`), 200);
  });

  test('an index joins a design document that says the same of partitions', async () => {
    for (const isPartitioned of [false, true]) {
      const name = await newDb(client, isPartitioned ? '?partitioned=true' : '');
      const made = async (ddoc: string, index: string, more: object): Promise<Answer> =>
        await client.post(`${name}/_index`, { index: { fields: [index] }, ddoc, name: index, ...more });
      const options = [{}, { partitioned: false }, ...(isPartitioned ? [{ partitioned: true }] : [])];
      for (const [at, first] of options.entries()) {
        const ddoc = `d${at}`;
        assertOk(await made(ddoc, 'a', first), 200);
        const saved = (await client.get(`${name}/_design/${ddoc}`)).body.options;
        assert.deepEqual(saved ?? {}, first);
        for (const [then, second] of options.entries()) {
          const answer = await made(ddoc, 'b', second);
          if (then === at) assertOk(answer, 200);
          else assertRefused(answer, 400, 'invalid_partitioned_option');
        }
      }
    }
  });

  test('the last index takes its design document with it unless that says more', async () => {
    const name = await newDb(client);
    for (const [ddoc, more] of [
      ['plain', {}],
      ['says-more', { partitioned: false }],
    ] as const) {
      const index = { fields: ['a'] };
      assertOk(await client.post(`${name}/_index`, { index, ddoc, name: 'a', ...more }), 200);
      assertOk(await client.delete(`${name}/_index/${ddoc}/json/a`), 200);
    }
    assertRefused(await client.get(`${name}/_design/plain`), 404);
    const left = (await client.get(`${name}/_design/says-more`)).body;
    assert.deepEqual([left.language, left.options, left.views], ['query', { partitioned: false }, undefined]);
  });
});
