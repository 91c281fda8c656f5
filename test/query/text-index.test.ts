import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import type { Answer } from '../support/http-client.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

interface Found {
  docs: Record<string, unknown>[];
  bookmark: string;
}

async function find(db: string, body: object): Promise<Found> {
  const answer = await client.post(`${db}/_find`, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Found;
}

const idsOf = ({ docs }: Found): string[] => docs.map(({ _id }) => String(_id));

async function inPages(
  db: string,
  body: object,
  limit: number,
  between?: (page: number) => Promise<void>,
): Promise<string[]> {
  const ids: string[] = [];
  for (let page = 0, bookmark: string | null = null; ; page++) {
    const found: Found = await find(db, { ...body, limit, bookmark });
    if (found.docs.length === 0) return ids;
    ids.push(...idsOf(found));
    bookmark = found.bookmark;
    await between?.(page);
  }
}

const newIndex = (db: string, index: object, name: string): Promise<void> =>
  client
    .post(`${db}/_index`, { type: 'text', index, ddoc: name, name })
    .then((answer) => assertOk(answer, 200));

const people = [
  { _id: 'ada', name: 'Ada Lovelace', age: 36, tags: ['poetry', 'number'], note: 'the analytical engine' },
  { _id: 'alan', name: 'Alan Turing', age: 41, tags: ['number'], note: 'the engine of the machine' },
  { _id: 'grace', name: 'Grace Hopper', age: 85, tags: [], note: 'a compiler' },
  { _id: 'none', age: null, note: 'nothing known' },
];

async function peopleDb(index: object = {}): Promise<string> {
  const db = await newDb(client);
  await newIndex(db, index, 'text');
  assertOk(await client.post(`${db}/_bulk_docs`, { docs: people }), 201);
  return db;
}

describe('$text', () => {
  let db: string;
  before(async () => (db = await peopleDb()));

  test('finds words of all strings, in any case', async () => {
    assert.deepEqual(idsOf(await find(db, { selector: { $text: 'TURING' } })), ['alan']);
    assert.deepEqual(idsOf(await find(db, { selector: { $text: 'poetry' } })), ['ada']);
  });

  test('finds several words as a phrase, and nothing by operators of the search syntax', async () => {
    assert.deepEqual(idsOf(await find(db, { selector: { $text: 'analytical engine' } })), ['ada']);
    assert.deepEqual(idsOf(await find(db, { selector: { $text: 'engine analytical' } })), []);
    assert.deepEqual(idsOf(await find(db, { selector: { $text: '*:*' } })), []);
    assert.deepEqual(idsOf(await find(db, { selector: { $text: 'turing OR hopper' } })), []);
  });

  test('comes with other conditions, and is no more than one of several alternatives', async () => {
    const both = { $text: 'engine', age: { $gt: 40 } };
    assert.deepEqual(idsOf(await find(db, { selector: both })), ['alan']);
    const either = { $or: [{ $text: 'compiler' }, { tags: { $all: ['number', 'poetry'] } }] };
    assert.deepEqual(idsOf(await find(db, { selector: either })).sort(), ['ada', 'grace']);
    const two = { $and: [{ $text: 'engine' }, { $text: 'machine' }] };
    assert.deepEqual(idsOf(await find(db, { selector: two })), ['alan']);
  });

  test('gives the most relevant documents first', async () => {
    // Relevance is that of the shard group.
    const long = await newDb(client, '?q=1');
    await newIndex(long, {}, 'text');
    const words = (n: number): string => 'word '.repeat(n) + 'other '.repeat(20 - n);
    const docs = [1, 9, 3, 20, 6].map((n) => ({ _id: `d${n}`, text: words(n) }));
    assertOk(await client.post(`${long}/_bulk_docs`, { docs }), 201);
    const body = { selector: { $text: 'word' } };
    const expected = ['d20', 'd9', 'd6', 'd3', 'd1'];
    assert.deepEqual(idsOf(await find(long, body)), expected);
    assert.deepEqual(await inPages(long, body, 2), expected);
  });

  test('is refused where nothing can answer it', async () => {
    const plain = await newDb(client);
    assertRefused(await client.post(`${plain}/_find`, { selector: { $text: 'a' } }), 400, 'no_usable_index');
    for (const [selector, error] of [
      [{ note: { $text: 'a' } }, 'bad_field'],
      [{ tags: { $elemMatch: { $text: 'a' } } }, 'bad_field'],
      [{ $not: { $text: 'a' } }, 'bad_arg'],
      [{ $nor: [{ $text: 'a' }] }, 'bad_arg'],
      [{ $text: ['a'] }, 'bad_arg'],
      [{ $text: null }, 'bad_arg'],
      [{ $text: 5 }, 'invalid_operator'],
    ] as const)
      assertRefused(await client.post(`${db}/_find`, { selector }), 400, error);
    assertRefused(await client.post(`${db}/_changes?filter=_selector`, { selector: { $text: 'a' } }), 400);
  });

  test('finds a document that has just changed', async () => {
    const own = await peopleDb();
    assert.deepEqual(idsOf(await find(own, { selector: { $text: 'cobol' } })), []);
    const { body } = await client.get(`${own}/grace`);
    assertOk(await client.put(`${own}/grace`, { ...body, note: 'COBOL' }), 201);
    assert.deepEqual(idsOf(await find(own, { selector: { $text: 'cobol' } })), ['grace']);
    assert.deepEqual(idsOf(await find(own, { selector: { $text: 'compiler' } })), []);
  });
});

describe('The definition of a text index', () => {
  test('may not ask for all fields where [mango] index_all_disabled is true', async () => {
    const own = await newDb(client);
    const option = '/_node/_local/_config/mango/index_all_disabled';
    const index = (fields?: unknown): Promise<Answer> =>
      client.post(`${own}/_index`, { type: 'text', index: fields === undefined ? {} : { fields } });
    assert.equal((await client.put(option, 'true')).status, 200);
    try {
      for (const all of [undefined, 'all_fields', []])
        assertRefused(await index(all), 403, 'index_all_disabled');
      assert.equal((await index([{ name: 'a', type: 'string' }])).status, 200);
      assert.equal((await client.post(`${own}/_index`, { index: { fields: ['a'] } })).status, 200);
    } finally {
      await client.delete(option);
    }
    assert.equal((await index()).status, 200);
  });

  test('tells which fields there are, and whether $text has any', async () => {
    const fields = [{ name: 'name', type: 'string' }];
    const db = await peopleDb({ fields, index_array_lengths: false });
    assert.deepEqual(idsOf(await find(db, { selector: { $text: 'turing' } })), ['alan']);
    assert.deepEqual(idsOf(await find(db, { selector: { $text: 'engine' } })), []);
    const silent = await peopleDb({ default_field: { enabled: false } });
    assert.deepEqual(idsOf(await find(silent, { selector: { $text: 'turing' } })), []);
    assert.deepEqual(idsOf(await find(silent, { selector: { age: 41 } })), ['alan']);
  });

  test('has analyzers', async () => {
    const db = await peopleDb({ default_field: { analyzer: 'english' } });
    assert.deepEqual(idsOf(await find(db, { selector: { $text: 'compilers' } })), ['grace']);
    const exact = await peopleDb({ default_field: { analyzer: 'keyword' } });
    assert.deepEqual(idsOf(await find(exact, { selector: { $text: 'a compiler' } })), ['grace']);
    assert.deepEqual(idsOf(await find(exact, { selector: { $text: 'compiler' } })), []);
  });

  test('may have a filter: then the index has to be named', async () => {
    for (const member of ['partial_filter_selector', 'selector']) {
      const db = await peopleDb({ [member]: { age: { $gt: 40 } } });
      const body = { selector: { note: { $exists: true } } };
      assert.equal((await client.post(`${db}/_explain`, body)).body.index.name, '_all_docs');
      assert.deepEqual(idsOf(await find(db, { ...body, use_index: 'text' })).sort(), ['alan', 'grace']);
    }
  });

  test('is listed, and goes with the index', async () => {
    const db = await newDb(client);
    const fields = [{ name: 'age', type: 'number' }];
    await newIndex(db, { fields }, 'text');
    const again = await client.post(`${db}/_index`, {
      type: 'text',
      index: { fields },
      ddoc: 'text',
      name: 'text',
    });
    assert.equal(again.body.result, 'exists');
    assertOk(
      await client.post(`${db}/_index`, { index: { fields: ['age'] }, ddoc: 'text', name: 'json' }),
      200,
    );
    const listed = (await client.get(`${db}/_index`)).body.indexes as Record<string, unknown>[];
    assert.deepEqual(
      listed.map(({ type }) => type),
      ['special', 'json', 'text'],
    );
    assert.deepEqual(listed[2], {
      ddoc: '_design/text',
      name: 'text',
      type: 'text',
      partitioned: false,
      def: {
        default_analyzer: 'keyword',
        default_field: {},
        selector: {},
        fields: [{ age: 'number' }],
        index_array_lengths: true,
      },
    });
    assertRefused(await client.delete(`${db}/_index/text/json/text`), 404);
    assertOk(await client.delete(`${db}/_index/text/text/text`), 200);
    assertOk(await client.get(`${db}/_design/text`), 200);
    assertOk(await client.delete(`${db}/_index/_design/text/json/json`), 200);
    assertRefused(await client.get(`${db}/_design/text`), 404);
  });

  test('is refused where it is malformed', async () => {
    const db = await newDb(client);
    for (const [index, error] of [
      [[], 'invalid_index'],
      ['all', 'invalid_index'],
      [{ nope: 1 }, 'invalid_key'],
      [{ fields: true }, 'invalid_index_fields_definition'],
      [{ fields: ['a'] }, 'invalid_index_fields_definition'],
      [{ fields: [{ name: 'a' }] }, 'invalid_index_fields_definition'],
      [{ fields: [{ name: '', type: 'string' }] }, 'invalid_index_fields_definition'],
      [{ fields: [{ name: 'a', type: 'date' }] }, 'invalid_index_fields_definition'],
      [{ fields: [{ name: 'a..b', type: 'string' }] }, 'invalid_field_name'],
      [{ default_field: 5 }, 'invalid_index'],
      [{ default_field: { enabled: 'yes' } }, 'invalid_index'],
      [{ default_field: { analyzer: 'klingon' } }, 'bad_request'],
      [{ default_analyzer: 5 }, 'invalid_index'],
      [{ index_array_lengths: 1 }, 'invalid_boolean'],
      [{ selector: 5 }, 'invalid_selector_json'],
      [{ partial_filter_selector: { $text: 'a' } }, 'not_supported'],
    ] as const)
      assertRefused(await client.post(`${db}/_index`, { type: 'text', index }), 400, error);
    assertRefused(await client.post(`${db}/_index`, { type: 'nouveau', index: {} }), 503);
    assertRefused(await client.post(`${db}/_index`, { type: 'nope', index: {} }), 400, 'invalid_index');
  });

  test('is no search index for _search', async () => {
    const db = await peopleDb();
    assertRefused(await client.get(`${db}/_design/text/_search/text?q=a`), 400, 'bad_request');
    const info = await client.get(`${db}/_design/text/_search_info/text`);
    assert.equal(info.body.name, '_design/text/text');
  });
});

describe('The choice of a text index', () => {
  test('comes behind JSON indexes, and before a scan', async () => {
    const db = await peopleDb();
    assertOk(
      await client.post(`${db}/_index`, { index: { fields: ['age'] }, ddoc: 'json', name: 'json' }),
      200,
    );
    const chosen = async (body: object): Promise<unknown> =>
      (await client.post(`${db}/_explain`, body)).body.index.type;
    assert.equal(await chosen({ selector: { age: 41 } }), 'json');
    assert.equal(await chosen({ selector: { age: 41 }, use_index: 'text' }), 'text');
    assert.equal(await chosen({ selector: { name: 'Ada Lovelace' } }), 'text');
    assert.equal(await chosen({ selector: { age: 41, $text: 'turing' } }), 'text');
    assert.equal(await chosen({ selector: {} }), 'special');
  });

  test('is the one that has the fields', async () => {
    const db = await peopleDb({ fields: [{ name: 'age', type: 'number' }], default_field: false });
    const { body } = await client.post(`${db}/_explain`, { selector: { age: 'old' } });
    assert.equal(body.index.type, 'special');
    assert.deepEqual(body.index_candidates[0].analysis.reasons, [{ name: 'field_mismatch' }]);
    const text = await client.post(`${db}/_find`, { selector: { $text: 'turing' } });
    assertRefused(text, 400, 'no_usable_index');
  });

  test('has to be made where there are several', async () => {
    const db = await peopleDb();
    await newIndex(db, { default_analyzer: 'email' }, 'other');
    assertRefused(await client.post(`${db}/_find`, { selector: { age: 41 } }), 400, 'multiple_text_indexes');
    assert.deepEqual(idsOf(await find(db, { selector: { age: 41 }, use_index: 'other' })), ['alan']);
  });

  test('is explained as CouchDB explains it', async () => {
    const db = await peopleDb();
    const query = async (selector: object): Promise<unknown> =>
      (await client.post(`${db}/_explain`, { selector })).body.query;
    assert.equal(await query({ 'a.b-c': 'x y' }), '(a.b_2dc_3astring:"x\\ y")');
    assert.equal(await query({ a: 1, $text: 'x' }), '((a_3anumber:1) AND ($default:"x"))');
    assert.equal(await query({ a: { $gte: 5 } }), '(a_3anumber:[5 TO *])');
    assert.equal(
      await query({ a: { $exists: false } }),
      '($fieldnames:/.*/  AND NOT ((($fieldnames:a_3a*) OR ($fieldnames:a.*))))',
    );
    const { body } = await client.post(`${db}/_explain`, {
      selector: { age: { $gt: 1 } },
      sort: [{ age: 'desc' }],
    });
    assert.deepEqual(body.sort, ['-age_3anumber<number>']);
    assert.deepEqual(body.selector_hints, [
      { type: 'json', indexable_fields: ['age'], unindexable_fields: [] },
      { type: 'text', indexable_fields: ['age'], unindexable_fields: [] },
    ]);
  });
});

describe('Sort and pages of a text index', () => {
  test('fields have a type, which the selector may tell', async () => {
    const db = await peopleDb();
    const all = { note: { $exists: true } };
    const ids = async (body: object): Promise<string[]> => idsOf(await find(db, body));
    assert.deepEqual(await ids({ selector: all, sort: ['age:number'] }), ['none', 'ada', 'alan', 'grace']);
    assert.deepEqual(await ids({ selector: all, sort: [{ 'age:number': 'desc' }] }), [
      'grace',
      'alan',
      'ada',
      'none',
    ]);
    assert.deepEqual(await ids({ selector: all, sort: ['name:string'] }), ['none', 'ada', 'alan', 'grace']);
    assert.deepEqual(await ids({ selector: { age: { $lt: 50 } }, sort: [{ age: 'desc' }] }), [
      'alan',
      'ada',
      'none',
    ]);
    assertRefused(await client.post(`${db}/_find`, { selector: all, sort: ['age'] }), 400, 'text_sort_error');
    const two = { $or: [{ age: 1 }, { age: 'x' }] };
    assertRefused(await client.post(`${db}/_find`, { selector: two, sort: ['age'] }), 400, 'text_sort_error');
  });

  test('pages have every document once, in order, while others are written', async () => {
    const db = await newDb(client);
    await newIndex(db, {}, 'text');
    const docs = Array.from({ length: 60 }, (_, n) => ({
      _id: `d${n}`,
      n: (n * 37) % 20,
      kind: 'x',
      text: 'word',
    }));
    assertOk(await client.post(`${db}/_bulk_docs`, { docs }), 201);
    const all = docs.map(({ _id }) => _id).sort();
    const numberOf = new Map(docs.map(({ _id, n }) => [_id, n]));
    const sorted = idsOf(await find(db, { selector: { kind: 'x' }, sort: ['n:number'], limit: 100 }));
    assert.deepEqual(sorted.toSorted(), all);
    for (const [at, id] of sorted.entries())
      assert.ok(at === 0 || numberOf.get(sorted[at - 1]!)! <= numberOf.get(id)!, `${id} at ${at}`);
    let written = 0;
    const write = async (): Promise<void> => {
      assertOk(await client.put(`${db}/other${written++}`, { n: 1, kind: 'y', text: 'none' }), 201);
    };
    for (const limit of [1, 7, 60]) {
      const byNumber = await inPages(db, { selector: { kind: 'x' }, sort: ['n:number'] }, limit, write);
      assert.deepEqual(byNumber, sorted);
      const plain = await inPages(db, { selector: { kind: 'x' } }, limit, write);
      assert.deepEqual(plain.toSorted(), all);
      const relevant = await inPages(db, { selector: { kind: 'x', $text: 'word' } }, limit);
      assert.deepEqual(relevant.toSorted(), all);
    }
    const skipped = await find(db, { selector: { kind: 'x' }, sort: ['n:number'], skip: 50, limit: 5 });
    assert.deepEqual(idsOf(skipped), sorted.slice(50, 55));
    assert.deepEqual(idsOf(await find(db, { selector: { kind: 'x' }, limit: 0 })), []);
  });

  test('a bookmark of another query is refused, or finds its place', async () => {
    const db = await peopleDb();
    const { bookmark } = await find(db, { selector: { age: { $gt: 0 } }, limit: 1 });
    const other = { selector: { age: { $gt: 0 } }, sort: ['age:number', 'name:string'], bookmark };
    assertRefused(await client.post(`${db}/_find`, other), 400, 'invalid_bookmark');
    const forged = Buffer.from(JSON.stringify([1, '_design/text', 'text', 'x', [{}]])).toString('base64url');
    const body = { selector: { age: { $gt: 0 } }, bookmark: forged };
    assertRefused(await client.post(`${db}/_find`, body), 400, 'invalid_bookmark');
  });

  test('statistics, counts and sums are those of the documents', async () => {
    const db = await peopleDb();
    const { body } = await client.post(`${db}/_find`, {
      selector: { $text: 'engine' },
      execution_stats: true,
      count: true,
      limit: 1,
    });
    assert.equal(body.count, 2);
    assert.equal(body.execution_stats.results_returned, 1);
    assert.equal(body.warning, undefined);
    const aggregate = { group_by: [], values: { sum: { $sum: 'age' } } };
    const summed = await client.post(`${db}/_find`, { selector: { $text: 'engine' }, aggregate });
    assert.deepEqual(summed.body.groups, [{ sum: 77 }]);
  });
});

test('a text index of a partitioned database is asked in one partition', async () => {
  const db = await newDb(client, '?partitioned=true');
  await newIndex(db, {}, 'text');
  const docs = ['a:1', 'a:2', 'b:1'].map((_id, n) => ({ _id, n, text: 'word' }));
  assertOk(await client.post(`${db}/_bulk_docs`, { docs }), 201);
  const inA = await client.post(`${db}/_partition/a/_find`, { selector: { $text: 'word', n: { $gte: 0 } } });
  assert.deepEqual(idsOf(inA.body as Found), ['a:1', 'a:2']);
  assertRefused(await client.post(`${db}/_find`, { selector: { $text: 'word' } }), 400, 'no_usable_index');
});
