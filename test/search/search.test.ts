import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

const index = `function (doc) {
  if (doc.text) index('default', doc.text, { store: true });
  if (doc.title) index('title', doc.title, { store: true, boost: 2 });
  if (doc.kind) index('kind', doc.kind, { facet: true });
  if (doc.price !== undefined) index('price', doc.price, { facet: true, store: true });
  if (doc.on !== undefined) index('on', doc.on);
  if (doc.lon !== undefined) { index('lon', doc.lon); index('lat', doc.lat); }
}`;

const docs = [
  { _id: 'a', text: 'the quick brown fox', title: 'Fox', kind: 'animal', price: 10, lon: 0, lat: 51 },
  {
    _id: 'b',
    text: 'the lazy dog sleeps',
    title: 'Dog',
    kind: 'animal',
    price: 20,
    on: true,
    lon: 13,
    lat: 52,
  },
  { _id: 'c', text: 'quick silver and a brown bear', kind: 'metal', price: -5.5, on: false, lon: 2, lat: 48 },
  { _id: 'd', text: 'brown quick bread', title: 'Bread', kind: 'food', price: 3 },
  { _id: 'e', other: 'nothing is indexed of this one' },
  { _id: 'f', text: 'foxes jump; résumé 2024 c++', kind: 'odd', price: 1e9 },
];

const db = await newDb(client);
await client.put(`${db}/_design/s`, {
  indexes: {
    i: { index },
    k: { analyzer: 'keyword', index: "function (d) { index('kind', d.kind || 'None') }" },
  },
});
await client.post(`${db}/_bulk_docs`, { docs });

interface Hit {
  id: string;
  order: number[];
  fields: Record<string, unknown>;
  highlights: unknown;
  doc: Record<string, string>;
}

interface SearchBody {
  total_rows: number;
  bookmark: string;
  rows: Hit[];
  counts: unknown;
  ranges: unknown;
  groups: { by: string; total_rows: number; rows: Hit[] }[];
}

async function search(body: Record<string, unknown>, name = 'i'): Promise<SearchBody> {
  const answer = await client.post(`${db}/_design/s/_search/${name}`, body);
  assertOk(answer, 200);
  return answer.body as SearchBody;
}

async function ids(q: string, more: Record<string, unknown> = {}, name = 'i'): Promise<string> {
  const { rows } = await search({ q, ...more }, name);
  return rows.map(({ id }) => id).join('');
}

const sorted = (text: string): string => [...text].sort().join('');

describe('Queries find', () => {
  const cases: [q: string, found: string][] = [
    ['fox', 'a'],
    ['FOX', 'a'],
    ['quick', 'acd'],
    ['quick dog', 'abcd'],
    ['quick AND bear', 'c'],
    ['quick && bear', 'c'],
    ['+quick -bear', 'ad'],
    ['quick NOT bear', 'ad'],
    ['quick !bear', 'ad'],
    ['-bear', ''],
    ['*:* -bear', 'abdf'],
    ['(fox OR dog) AND brown', 'a'],
    ['"quick brown"', 'a'],
    ['"quick brown"~2', 'ad'],
    ['"quick brown"~3', 'acd'],
    ['"brown quick"', 'd'],
    ['fo*', 'af'],
    ['f?x', 'a'],
    ['*ea*', 'cd'],
    ['baer~1', 'c'],
    ['bare~1', ''],
    ['bare~', 'c'],
    ['/b(ea|oa)r/', 'c'],
    ['/be.*/', 'c'],
    ['[dog TO fox]', 'ab'],
    ['{dog TO fox]', 'a'],
    ['[dog TO fox}', 'b'],
    ['title:fox', 'a'],
    ['title:(fox bread)', 'ad'],
    ['title:(+fox +bread)', ''],
    ['price:10', 'a'],
    ['price:[3 TO 20]', 'abd'],
    ['price:{3 TO 20}', 'a'],
    ['price:[* TO 3]', 'cd'],
    ['price:[20 TO *]', 'bf'],
    ['price:[-10 TO 0]', 'c'],
    ['price:\\-5.5', 'c'],
    ['price:[0 TO Infinity]', 'abdf'],
    ['on:true', 'b'],
    ['on:false', 'c'],
    ['on:*', 'bc'],
    ['2024', 'f'],
    ['"2024"', 'f'],
    ['_id:a', 'a'],
    ['résumé', 'f'],
    ['the', ''],
    ['the fox', 'a'],
    ['fox^3 dog', 'ab'],
    ['nofield:x', ''],
    ['kind:animal AND title:dog', 'b'],
  ];
  for (const [q, found] of cases) {
    test(`${q} finds ${found || 'nothing'}`, async () => {
      assert.equal(sorted(await ids(q)), found);
      const answer = await client.get(`${db}/_design/s/_search/i?q=${encodeURIComponent(q)}`);
      assert.equal(answer.body.total_rows, found.length);
    });
  }

  test('terms of a keyword index are as they were written', async () => {
    assert.equal(await ids('kind:None', {}, 'k'), 'e');
    assert.equal(await ids('kind:N*', {}, 'k'), 'e');
    assert.equal(await ids('kind:n*', {}, 'k'), '');
  });
});

describe('Answers', () => {
  test('the most relevant come first, and a boost counts', async () => {
    assert.equal(await ids('title:dog^10 OR fox'), 'ba');
    assert.equal(await ids('title:dog OR fox^10'), 'ab');
    const { rows } = await search({ q: 'fox OR dog' });
    assert.ok(rows[0]!.order[0]! >= rows[1]!.order[0]!);
  });

  test('rows have their id, order and stored fields', async () => {
    const { rows, total_rows, bookmark } = await search({ q: 'title:fox' });
    assert.equal(total_rows, 1);
    assert.equal(typeof bookmark, 'string');
    assert.deepEqual(rows[0]!.fields, { default: 'the quick brown fox', title: 'Fox', price: 10 });
    assert.equal(rows[0]!.id, 'a');
  });

  test('include_fields and include_docs choose what is shown', async () => {
    const { rows } = await search({ q: 'title:fox', include_fields: ['price'], include_docs: true });
    assert.deepEqual(rows[0]!.fields, { price: 10 });
    assert.equal(rows[0]!.doc['title'], 'Fox');
    assert.match(rows[0]!.doc['_rev']!, /^1-/);
  });

  test('sort orders by numbers, texts, distance and the reverse', async () => {
    assert.equal(await ids('*:*', { sort: 'price<number>' }), 'cdabf');
    assert.equal(await ids('*:*', { sort: '-price<number>' }), 'fbadc');
    assert.equal(await ids('*:*', { sort: ['kind<string>', '-price<number>'] }), 'badcf');
    assert.equal(await ids('lat:*', { sort: '<distance,lon,lat,2,48,km>' }), 'cab');
    const byQuery = await client.get(
      `${db}/_design/s/_search/i?q=*:*&sort=${encodeURIComponent('"-price<number>"')}`,
    );
    assert.equal(byQuery.body.rows[0]!.id, 'f');
  });

  test('bookmarks lead through all pages, each hit once', async () => {
    for (const sort of [undefined, 'price<number>', ['-kind<string>']]) {
      const seen: string[] = [];
      let bookmark: string | undefined;
      for (let page = 0; page < 10; page++) {
        const answer = await search({
          q: '*:*',
          limit: 2,
          ...(sort && { sort }),
          ...(bookmark && { bookmark }),
        });
        assert.equal(answer.total_rows, 5);
        if (answer.rows.length === 0) break;
        seen.push(...answer.rows.map(({ id }: { id: string }) => id));
        bookmark = answer.bookmark as string;
      }
      assert.equal(sorted(seen.join('')), 'abcdf');
    }
  });

  test('counts, ranges and drilldown', async () => {
    const ranges = { price: { cheap: '[0 TO 15]', dear: '{15 TO Infinity}' } };
    const answer = await search({ q: '*:*', counts: ['kind', 'none'], ranges, limit: 0 });
    assert.deepEqual(answer.counts, { kind: { animal: 2, food: 1, metal: 1, odd: 1 }, none: {} });
    assert.deepEqual(answer.ranges, { price: { cheap: 2, dear: 2 } });
    assert.equal(sorted(await ids('*:*', { drilldown: ['kind', 'animal', 'food'] })), 'abd');
    assert.equal(
      await ids('*:*', {
        drilldown: [
          ['kind', 'animal'],
          ['kind', 'food'],
        ],
      }),
      '',
    );
  });

  test('all drilldowns of a query string count', async () => {
    const found = async (...lists: unknown[]): Promise<string> => {
      const given = lists.map((list) => `&drilldown=${JSON.stringify(list)}`).join('');
      const answer = await client.get(`${db}/_design/s/_search/i?q=*:*${given}`);
      assertOk(answer, 200);
      return sorted(answer.body.rows.map(({ id }: { id: string }) => id).join(''));
    };
    assert.equal(await found(['kind', 'animal', 'food'], ['kind', 'food', 'metal']), 'd');
    assert.equal(await found(['kind', 'animal'], ['kind', 'food']), '');
    assert.equal(await found(['kind', 'animal'], [['kind', 'food']]), 'd');
    assert.equal(await found([['kind', 'food', 'metal']], ['kind', 'food']), 'd');
  });

  test('group_field divides the hits', async () => {
    const answer = await search({
      q: '*:*',
      group_field: 'kind',
      group_sort: 'kind<string>',
      sort: 'price<number>',
    });
    assert.equal(answer.total_rows, 5);
    assert.deepEqual(
      answer.groups.map(({ by, total_rows, rows }) => [by, total_rows, rows.map((row) => row.id).join('')]),
      [
        ['animal', 2, 'ab'],
        ['food', 1, 'd'],
        ['metal', 1, 'c'],
        ['odd', 1, 'f'],
      ],
    );
    const limited = await search({ q: '*:*', group_field: 'kind', group_limit: 2, limit: 1 });
    assert.equal(limited.groups.length, 2);
  });

  test('highlights mark what was found', async () => {
    const { rows } = await search({ q: 'quick fox', highlight_fields: ['default'], highlight_size: 1000 });
    assert.deepEqual(rows[0]!.highlights, { default: ['the <em>quick</em> brown <em>fox</em>'] });
    const tagged = { highlight_fields: ['default'], highlight_pre_tag: '[', highlight_post_tag: ']' };
    assert.deepEqual((await search({ q: 'sleeps', ...tagged })).rows[0]!.highlights, {
      default: ['the lazy dog [sleeps]'],
    });
  });

  test('highlights are of the beginning of a long text, and take bounded time', async () => {
    const other = await newDb(client);
    const text = `${'word '.repeat(20_000)}needle`;
    await client.put(`${other}/_design/s`, { indexes: { i: { index } } });
    assertOk(await client.put(`${other}/long`, { text }), 201);
    const marks = async (q: string): Promise<unknown> => {
      const query = { q, highlight_fields: ['default'], highlight_size: 20 };
      const { status, body } = await client.post(`${other}/_design/s/_search/i`, query);
      assert.equal(status, 200);
      return body.rows[0].highlights;
    };
    assert.deepEqual(await marks('needle'), {});
    assert.deepEqual(await marks('needle word'), { default: [`${'<em>word</em> '.repeat(4)}`] });
    const started = Date.now();
    const patterns = Array.from({ length: 900 }, (_, n) => `*${'o*'.repeat(8)}${n}*`);
    await marks(`${patterns.join(' ')} word`);
    assert.ok(Date.now() - started < 5_000, `it took ${Date.now() - started} ms`);
  });
});

describe('Bad requests', () => {
  const queries = [
    '',
    ' ',
    '(a',
    'a)',
    '"a',
    'a AND',
    'AND a',
    '[a TO',
    'a^',
    'a:',
    '/a',
    '+',
    '~',
    '^2',
    '/(/',
  ];
  for (const q of queries) {
    test(`the query ${JSON.stringify(q)} is refused with 400`, async () => {
      assertRefused(await client.post(`${db}/_design/s/_search/i`, { q }), 400, 'bad_request');
    });
  }

  const bodies: [Record<string, unknown>, string?][] = [
    [{}],
    [{ q: 1 }],
    [{ q: 'a', limit: 201 }],
    [{ q: 'a', limit: -1 }],
    [{ q: 'a', limit: 'x' }],
    [{ q: 'a', stale: 'no' }],
    [{ q: 'a', counts: 'kind' }],
    [{ q: 'a', counts: [1] }],
    [{ q: 'a', drilldown: ['kind'] }],
    [{ q: 'a', drilldown: {} }],
    [{ q: 'a', include_fields: {} }],
    [{ q: 'a', group_field: 'kind', group_limit: 0 }],
    [{ q: 'a', highlight_fields: 'x' }],
    [{ q: 'a', highlight_fields: ['x'], highlight_size: 0 }],
    [{ q: 'a', ranges: [] }],
    [{ q: 'a', sort: 5 }, 'bad_request'],
    [{ q: 'a', sort: ['a<b>'] }, 'bad_request'],
    [{ q: 'a', bookmark: 'zzz' }, 'bad_request'],
    [{ q: 'a', ranges: { price: { a: 'x' } } }, 'bad_request'],
    [{ q: 'a', partition: 'p' }, 'bad_request'],
  ];
  for (const [body, error = 'query_parse_error'] of bodies) {
    test(`${JSON.stringify(body)} is refused with 400`, async () => {
      assertRefused(await client.post(`${db}/_design/s/_search/i`, body), 400, error);
    });
  }

  test('an index that is not there is 404', async () => {
    assertRefused(await client.get(`${db}/_design/s/_search/none?q=a`), 404, 'not_found');
    assertRefused(await client.get(`${db}/_design/none/_search/i?q=a`), 404, 'not_found');
    assertRefused(await client.get(`${db}/_design/s/_search_info/none`), 404, 'not_found');
  });
});

describe('Indexes', () => {
  test('follow changes, deletions and purges', async () => {
    const own = await newDb(client);
    await client.put(`${own}/_design/s`, { indexes: { i: { index } } });
    const find = async (q: string): Promise<string> => {
      const { body } = await client.post(`${own}/_design/s/_search/i`, { q });
      return body.rows.map(({ id }: { id: string }) => id).join('');
    };
    const { rev } = (await client.put(`${own}/x`, { text: 'first' })).body;
    assert.equal(await find('first'), 'x');
    const changed = (await client.put(`${own}/x`, { _rev: rev, text: 'second' })).body;
    assert.equal(await find('first'), '');
    assert.equal(await find('second'), 'x');
    await client.put(`${own}/y`, { text: 'second' });
    assert.equal(await find('second'), 'xy');
    const stale = await client.post(`${own}/_design/s/_search/i`, { q: 'second', stale: 'ok' });
    assert.equal(stale.body.total_rows, 2);
    await client.send('DELETE', `${own}/x?rev=${changed.rev}`);
    assert.equal(await find('second'), 'y');
    const { _rev } = (await client.get(`${own}/y`)).body;
    assertOk(await client.post(`${own}/_purge`, { y: [_rev] }), 201);
    assert.equal(await find('second'), '');
  });

  test('a function that throws costs its document only', async () => {
    const own = await newDb(client);
    const source = "function (doc) { index('default', doc.text); index('_bad', 1); }";
    const sometimes = "function (doc) { if (doc.bad) index('x', {}); index('default', doc.text); }";
    await client.put(`${own}/_design/s`, { indexes: { i: { index: source }, j: { index: sometimes } } });
    await client.post(`${own}/_bulk_docs`, { docs: [{ text: 'a1' }, { text: 'a2', bad: true }] });
    assert.equal((await client.get(`${own}/_design/s/_search/i?q=*:*`)).body.total_rows, 0);
    assert.equal((await client.get(`${own}/_design/s/_search/j?q=*:*`)).body.total_rows, 1);
  });

  test('a function that cannot be compiled or takes no fields fails its own index only', async () => {
    const own = await newDb(client);
    const broken = { indexes: { i: { index: 'function (doc) { index( ' } } };
    await client.put(`${own}/_design/broken`, broken);
    const emitting =
      "function (doc) { emit(1, 2); index('constructor', 'word', { store: true, facet: true }) }";
    await client.put(`${own}/_design/emitting`, { indexes: { i: { index: emitting } } });
    await client.put(`${own}/x`, {});
    const refused = await client.get(`${own}/_design/broken/_search/i?q=a`);
    assertRefused(refused, 500, 'compilation_error');
    const found = await client.get(
      `${own}/_design/emitting/_search/i?q=constructor:word&counts=["constructor"]`,
    );
    assertOk(found, 200);
    assert.deepEqual(found.body.rows[0].fields, { constructor: 'word' });
    assert.deepEqual(found.body.counts, { constructor: { word: 1 } });
  });

  test("nano's search works unchanged", async () => {
    const { default: nano } = await import('nano');
    const answer = await nano(client.urlWithCredentials)
      .use(db.slice(1))
      .search('s', 'i', { q: 'quick', limit: 2 });
    assert.equal(answer.total_rows, 3);
    assert.equal(answer.rows.length, 2);
  });

  test('an unknown analyzer is refused when the index is asked', async () => {
    const own = await newDb(client);
    const indexes = { i: { analyzer: 'klingon', index: "function (d) { index('a', 'b') }" } };
    await client.put(`${own}/_design/s`, { indexes });
    await client.put(`${own}/x`, {});
    assertRefused(await client.get(`${own}/_design/s/_search/i?q=a`), 400, 'bad_request');
  });

  test('_search_info, _search_disk_size and _search_cleanup', async () => {
    await search({ q: 'fox' });
    const info = await client.get(`${db}/_design/s/_search_info/i`);
    assertOk(info, 200);
    assert.equal(info.body.name, '_design/s/i');
    assert.equal(info.body.search_index.doc_count, 5);
    assert.ok(info.body.search_index.disk_size > 0);
    const size = await client.get(`${db}/_design/s/_search_disk_size/i`);
    assert.equal(size.body.search_index.disk_size, info.body.search_index.disk_size);
    const cleaned = await client.post(`${db}/_search_cleanup`, {});
    assert.equal(cleaned.status, 202);
    assert.equal(await ids('fox'), 'a');
    assertOk(await client.post(`${db}/_view_cleanup`, {}), 202);
    assert.equal((await search({ q: 'fox', stale: 'ok' })).total_rows, 1);
  });

  test('partitions are searched each for itself', async () => {
    const own = await newDb(client, '?partitioned=true');
    await client.put(`${own}/_design/s`, { indexes: { i: { index } } });
    const all = { indexes: { i: { index } }, options: { partitioned: false } };
    await client.put(`${own}/_design/all`, all);
    await client.post(`${own}/_bulk_docs`, {
      docs: [
        { _id: 'p:1', text: 'fox' },
        { _id: 'p:2', text: 'dog' },
        { _id: 'q:1', text: 'fox fox' },
      ],
    });
    const found = async (path: string): Promise<string> => {
      const answer = await client.get(`${own}/${path}`);
      assertOk(answer, 200);
      return answer.body.rows.map(({ id }: { id: string }) => id).join();
    };
    assert.equal(await found('_partition/p/_design/s/_search/i?q=fox'), 'p:1');
    assert.equal(await found('_partition/q/_design/s/_search/i?q=*:*'), 'q:1');
    assert.equal(await found('_design/s/_search/i?q=*:*&partition=p'), 'p:1,p:2');
    assert.equal(await found('_design/all/_search/i?q=fox'), 'q:1,p:1');
    assertRefused(await client.get(`${own}/_design/s/_search/i?q=fox`), 400, 'bad_request');
    assertRefused(await client.get(`${own}/_partition/p/_design/all/_search/i?q=fox`), 400, 'bad_request');
    const ofP = `${own}/_partition/p/_design/s/_search/i`;
    assertOk(await client.post(ofP, { q: 'fox', partition: 'p' }), 200);
    assertRefused(await client.post(ofP, { q: 'fox', partition: 'q' }), 400, 'bad_request');
    const counted = `${own}/_partition/p/_design/s/_search/i?q=fox&counts=["kind"]`;
    assertRefused(await client.get(counted), 400, 'bad_request');
  });
});
