import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import type { Answer } from '../support/http-client.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

const index = `function (doc) {
  index('string', 'kind', doc.kind, { store: true });
  index('double', 'price', doc.price, { store: true });
  index('text', 'default', doc.text);
  index('stored', 'note', doc.kind + '!');
}`;

const docs = [
  { _id: 'doc4', kind: 'pear', price: 42, text: 'Hello there' },
  { _id: 'doc3', kind: 'apple', price: 12, text: 'hello' },
  { _id: 'doc1', kind: 'fig', price: 0, text: 'there' },
  { _id: 'doc2', kind: 'plum', price: 100, text: 'hi' },
];

interface NouveauHit {
  id: string;
  order: { '@type': string; value?: unknown }[];
  fields: Record<string, unknown>;
  doc?: Record<string, unknown>;
}

const hits = (answer: Answer): NouveauHit[] => answer.body.hits as NouveauHit[];
const ids = (answer: Answer): string[] => hits(answer).map(({ id }) => id);

async function newIndex(query = '', made: readonly object[] = docs, source = index): Promise<string> {
  const db = await newDb(client, query);
  assertOk(await client.put(`${db}/_design/n`, { nouveau: { i: { index: source } } }), 201);
  assertOk(await client.post(`${db}/_bulk_docs`, { docs: made }), 201);
  return db;
}

describe('_nouveau', () => {
  let path: string;

  before(async () => {
    path = `${await newIndex()}/_design/n/_nouveau/i`;
  });

  test('reads numbers of queries as the given locale writes them', async () => {
    const found = async (q: string, locale: string): Promise<string[]> =>
      ids(await client.post(path, { q, locale, sort: 'price' }));
    assert.deepEqual(await found('price:[11,5 TO 42,0]', 'de'), ['doc3', 'doc4']);
    assert.deepEqual(await found('price:42,00', 'de_DE'), ['doc4']);
    assert.deepEqual(await found('price:[11.5 TO 1,000.5]', 'en'), ['doc3', 'doc4', 'doc2']);
    for (const locale of ['', 'no locale', '\0', 'x'.repeat(5_000)])
      assertRefused(await client.post(path, { q: '*:*', locale }), 400, 'query_parse_error');
    assertRefused(await client.post(path, { q: '*:*', locale: 5 }), 400, 'query_parse_error');
  });

  test('finds all documents, those of equal relevance by id, by GET and POST', async () => {
    for (const answer of [
      await client.get(`${path}?q=*:*&include_docs=true`),
      await client.post(path, { q: '*:*', include_docs: true }),
    ]) {
      assertOk(answer, 200);
      assert.deepEqual(ids(answer), ['doc1', 'doc2', 'doc3', 'doc4']);
      const { total_hits, total_hits_relation, counts, ranges, update_latency } = answer.body;
      assert.deepEqual(
        { total_hits, total_hits_relation, counts, ranges },
        {
          total_hits: 4,
          total_hits_relation: 'EQUAL_TO',
          counts: null,
          ranges: null,
        },
      );
      assert.equal(typeof update_latency, 'number');
      const [first] = hits(answer);
      assert.deepEqual(first!.fields, { kind: 'fig', price: 0, note: 'fig!' });
      assert.equal(first!.doc!['text'], 'there');
      assert.deepEqual(first!.order, [
        { '@type': 'float', value: 1 },
        { '@type': 'string', value: 'doc1' },
      ]);
    }
  });

  test('pages by bookmark', async () => {
    let bookmark: string | undefined;
    const seen: string[] = [];
    for (let page = 0; page < 3; page++) {
      const answer = await client.post(path, { q: '*:*', limit: 2, bookmark });
      assertOk(answer, 200);
      seen.push(...ids(answer));
      ({ bookmark } = answer.body as { bookmark: string });
    }
    assert.deepEqual(seen, ['doc1', 'doc2', 'doc3', 'doc4']);
  });

  test('searches texts by words, strings as a whole and numbers by ranges', async () => {
    assert.deepEqual(ids(await client.get(`${path}?q=hello`)), ['doc3', 'doc4']);
    assert.deepEqual(ids(await client.get(`${path}?q=kind:apple`)), ['doc3']);
    assert.deepEqual(ids(await client.get(`${path}?q=price:%5B10+TO+50%5D`)), ['doc3', 'doc4']);
    assert.deepEqual(ids(await client.get(`${path}?q=note:apple`)), []);
  });

  test('sorts by strings and numbers', async () => {
    const sorted = async (sort: unknown): Promise<string[]> =>
      ids(await client.post(path, { q: '*:*', sort }));
    assert.deepEqual(await sorted('kind'), ['doc3', 'doc1', 'doc4', 'doc2']);
    assert.deepEqual(await sorted('-kind'), ['doc2', 'doc4', 'doc1', 'doc3']);
    assert.deepEqual(await sorted(['-price', 'kind']), ['doc2', 'doc4', 'doc3', 'doc1']);
    assert.deepEqual(await sorted('-_id'), ['doc4', 'doc3', 'doc2', 'doc1']);
    const answer = await client.get(`${path}?q=*:*&limit=1&sort=%22price%22`);
    assert.deepEqual(hits(answer)[0]!.order, [
      { '@type': 'double', value: 0 },
      { '@type': 'string', value: 'doc1' },
    ]);
  });

  test('counts strings and ranges of numbers, the most frequent first', async () => {
    const ranges = {
      price: [
        { label: 'cheap', max: 42 },
        { label: 'dear', min: 42, min_inclusive: false },
        { label: 'none', min: 1_000 },
      ],
    };
    const { body } = await client.post(path, { q: '*:*', counts: ['kind'], ranges });
    assert.deepEqual(body.counts, { kind: { apple: 1, fig: 1, pear: 1, plum: 1 } });
    assert.deepEqual(body.ranges, { price: { cheap: 3, dear: 1 } });
    const top = await client.post(path, { q: '*:*', counts: ['kind'], ranges, top_n: 1 });
    assert.deepEqual(top.body.ranges, { price: { cheap: 3 } });
    assert.deepEqual(top.body.counts, { kind: { apple: 1 } });
  });

  const refused: [name: string, body: object, status: number, error: string][] = [
    ['no query', {}, 400, 'query_parse_error'],
    ['a query that is no string', { q: 5 }, 400, 'query_parse_error'],
    ['a query that cannot be parsed', { q: 'a:[' }, 400, 'bad_request'],
    ['a limit of zero', { q: 'a', limit: 0 }, 400, 'query_parse_error'],
    ['a limit that is too large', { q: 'a', limit: 1e9 }, 400, 'query_parse_error'],
    ['a limit that is no number', { q: 'a', limit: 'x' }, 400, 'query_parse_error'],
    ['counts of no strings', { q: 'a', counts: [1] }, 400, 'query_parse_error'],
    ['ranges that are no object', { q: 'a', ranges: [1] }, 400, 'query_parse_error'],
    ['a range without a label', { q: 'a', ranges: { a: [{ min: 1 }] } }, 400, 'bad_request'],
    ['a bound that is no number', { q: 'a', ranges: { a: [{ label: 'x', min: 'y' }] } }, 400, 'bad_request'],
    [
      'too many ranges',
      { q: 'a', ranges: { a: Array(2_000).fill({ label: 'x' }) } },
      400,
      'query_parse_error',
    ],
    ['a field to sort by that has no name', { q: 'a', sort: '-<>' }, 400, 'bad_request'],
    ['a forged bookmark', { q: 'a', bookmark: 'W10' }, 400, 'bad_request'],
    ['too many top facets', { q: 'a', top_n: 1_001 }, 400, 'query_parse_error'],
    ['update that is no boolean', { q: 'a', update: 'maybe' }, 400, 'query_parse_error'],
    ['a partition where there are none', { q: 'a', partition: 'p' }, 400, 'bad_request'],
  ];
  for (const [name, body, status, error] of refused)
    test(`${name}: refused with ${status}`, async () => {
      assertRefused(await client.post(path, body), status, error);
    });

  test('unknown indexes and design documents are refused with 404', async () => {
    assertRefused(await client.get(`${path}x?q=a`), 404, 'not_found');
    assertRefused(await client.get(`${path.replace('/n/', '/m/')}?q=a`), 404, 'not_found');
    assertRefused(await client.put(path, {}), 405, 'method_not_allowed');
  });
});

test('a Nouveau index follows updates, deletes and purges, and tells of itself', async () => {
  const db = await newIndex();
  const path = `${db}/_design/n/_nouveau/i`;
  const total = async (q: string): Promise<unknown> => (await client.get(`${path}?q=${q}`)).body.total_hits;
  assert.equal(await total('hello'), 2);
  const { body: doc } = await client.get(`${db}/doc3`);
  await client.put(`${db}/doc3`, { ...doc, text: 'bye' });
  assert.equal(await total('hello'), 1);
  const { body: stale } = await client.get(`${path}?q=bye&update=false`);
  assert.equal(stale.total_hits, 1);
  const { body: other } = await client.get(`${db}/doc4`);
  await client.post(`${db}/_purge`, { doc4: [other._rev] });
  assert.equal(await total('hello'), 0);
  assert.equal(await total('*:*'), 3);
  const { body: info } = await client.get(`${db}/_design/n/_nouveau_info/i`);
  assert.equal(info.name, '_design/n/i');
  const { num_docs, update_seq, purge_seq, disk_size, signature } = info.search_index;
  assert.deepEqual({ num_docs, purge_seq }, { num_docs: 3, purge_seq: 1 });
  assert.ok(update_seq > 0 && disk_size > 0 && signature.length > 0);
});

test('_nouveau_cleanup and the other cleanups keep the indexes of design documents', async () => {
  const db = await newIndex();
  const path = `${db}/_design/n/_nouveau`;
  assertOk(await client.get(`${path}/i?q=hello`), 200);
  for (const name of ['_nouveau_cleanup', '_search_cleanup', '_view_cleanup']) {
    assertOk(await client.post(`${db}/${name}`, {}), 202);
    // Without an update: had the index been removed, there would be nothing.
    const { body } = await client.get(`${path}/i?q=hello&update=false`);
    assert.equal(body.total_hits, 2, name);
  }
});

test('fields have analyzers of their own', async () => {
  const db = await newDb(client);
  const source =
    "function (doc) { index('text', 'de', doc.t); index('text', 'en', doc.t); index('string', 'id', doc.t); }";
  const definition = {
    default_analyzer: 'english',
    field_analyzers: { de: 'german', id: 'keyword' },
    index: source,
  };
  await client.put(`${db}/_design/n`, { nouveau: { i: definition } });
  await client.put(`${db}/a`, { t: 'Running Häuser' });
  const total = async (q: string): Promise<unknown> =>
    (await client.post(`${db}/_design/n/_nouveau/i`, { q })).body.total_hits;
  assert.equal(await total('en:run'), 1);
  assert.equal(await total('de:run'), 0);
  assert.equal(await total('de:haus'), 1);
  assert.equal(await total('id:"Running Häuser"'), 1);
  assert.equal(await total('id:running'), 0);
});

test('a field of several values sorts by its least, and a wrong type costs the document its place', async () => {
  const source = `function (doc) {
    doc.n.forEach(function (each) { index('double', 'n', each, { store: true }); });
    if (doc.bad) index('double', 'bad', doc.bad);
  }`;
  const made = [
    { _id: 'a', n: [5, 3] },
    { _id: 'b', n: [4] },
    { _id: 'c', n: [9, 1] },
    { _id: 'd', n: [2], bad: 'text' },
    { _id: 'e', n: [] },
  ];
  const db = await newIndex('', made, source);
  const answer = await client.post(`${db}/_design/n/_nouveau/i`, { q: '*:*', sort: 'n' });
  assert.deepEqual(ids(answer), ['c', 'a', 'b']);
  assert.deepEqual(hits(answer)[1]!.fields, { n: [5, 3] });
});

test('partitions are searched by themselves', async () => {
  const made = docs.map((doc, i) => ({ ...doc, _id: `${i % 2 === 0 ? 'even' : 'odd'}:${doc._id}` }));
  const db = await newIndex('?partitioned=true', made);
  const path = `${db}/_partition/even/_design/n/_nouveau/i`;
  const answer = await client.get(`${path}?q=*:*&include_docs=true`);
  assert.deepEqual(ids(answer), ['even:doc1', 'even:doc4']);
  assert.deepEqual(ids(await client.post(path, { q: 'hello' })), ['even:doc4']);
  assertRefused(await client.get(`${db}/_design/n/_nouveau/i?q=*:*`), 400, 'bad_request');
});

test('_nouveau_analyze shows the terms of a text', async () => {
  const { body } = await client.post('/_nouveau_analyze', { analyzer: 'english', text: 'running foxes' });
  assert.deepEqual(body, { tokens: ['run', 'fox'] });
  assertRefused(await client.post('/_nouveau_analyze', { analyzer: 'english' }), 400, 'bad_request');
  assertRefused(await client.post('/_nouveau_analyze', { analyzer: {}, text: 'a' }), 400, 'bad_request');
  assertRefused(await client.post('/_nouveau_analyze', { analyzer: 'none', text: 'a' }), 400, 'bad_request');
});

test('the standard analyzer has no stop words', async () => {
  const { body } = await client.post('/_nouveau_analyze', { analyzer: 'standard', text: 'hello there' });
  assert.deepEqual(body, { tokens: ['hello', 'there'] });
  const path = `${await newIndex()}/_design/n/_nouveau/i`;
  assert.deepEqual(ids(await client.post(path, { q: 'there', sort: 'price' })), ['doc1', 'doc4']);
  const db = await newDb(client);
  const named = { index, default_analyzer: 'english', field_analyzers: { default: 'standard' } };
  assertOk(await client.put(`${db}/_design/n`, { nouveau: { i: named } }), 201);
  assertOk(await client.post(`${db}/_bulk_docs`, { docs }), 201);
  assert.deepEqual(ids(await client.post(`${db}/_design/n/_nouveau/i`, { q: 'there', sort: 'price' })), [
    'doc1',
    'doc4',
  ]);
});

test('long strings are sorted by their first 128 characters, and the next page follows', async () => {
  const made = Array.from({ length: 6 }, (_, i) => ({ _id: `d${i}`, s: `${i}${'x'.repeat(300_000)}` }));
  const db = await newIndex('', made, "function (doc) { index('string', 's', doc.s) }");
  const page = async (bookmark?: string): Promise<Answer> =>
    await client.post(`${db}/_design/n/_nouveau/i`, { q: '*:*', sort: '-s', limit: 4, bookmark });
  const first = await page();
  assert.deepEqual(ids(first), ['d5', 'd4', 'd3', 'd2']);
  assert.equal((hits(first)[0]!.order[0]!.value as string).length, 128);
  assert.deepEqual(ids(await page(first.body.bookmark as string)), ['d1', 'd0']);
});
