import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random, seed } from '../model/random.js';
import type { HttpClient } from '../support/http-client.js';
import { temporaryFolder } from '../support/server.js';
import { startServers } from './servers.js';

const design = {
  _id: '_design/d',
  views: {
    keys: { map: 'function (doc) { emit([doc.group, doc.n], doc.n); }', reduce: '_stats' },
    pairs: { map: 'function (doc) { emit(doc.group, 1); emit(doc.group, 2); }', reduce: '_sum' },
    longest: {
      map: 'function (doc) { emit(doc.group, doc._id.length); }',
      reduce: 'function (keys, values) { return Math.max.apply(null, values); }',
    },
  },
  indexes: {
    words: { index: "function (doc) { index('default', doc.text, { store: true }); index('n', doc.n); }" },
  },
};

const words = ['red', 'green', 'blue', 'old', 'new'];

function someDocs(random: Random, count: number): Record<string, unknown>[] {
  const ids = new Set<string>();
  while (ids.size < count) ids.add(`${random.pick(words)}-${random.hex(1 + random.below(5))}`);
  return [...ids].map((id) => ({
    _id: id,
    group: random.below(5),
    n: random.below(100),
    text: Array.from({ length: 1 + random.below(6) }, () => random.pick(words)).join(' '),
  }));
}

/** Fills a database in the same way on every server. */
async function fill(client: HttpClient, db: string): Promise<void> {
  const random = new Random(seed);
  assert.equal((await client.put(`${db}?q=8`)).status, 201);
  const docs = someDocs(random, 300);
  const saved = await client.post(`${db}/_bulk_docs`, { docs: [design, ...docs] });
  const rows = (saved.body as { id: string; rev: string }[]).slice(1);
  const updates = rows
    .filter(() => random.oneIn(4))
    .map(({ id, rev }) => ({
      _id: id,
      _rev: rev,
      group: 9,
      n: 7,
      text: 'updated',
      _deleted: random.oneIn(2),
    }));
  await client.post(`${db}/_bulk_docs`, { docs: updates });
  for (let i = 0; i < 20; i++) await client.put(`${db}/_local/l${i}`, { i });
  const untouched = rows.filter(({ id }) => !updates.some(({ _id }) => _id === id)).slice(0, 5);
  const purge = Object.fromEntries(untouched.map(({ id, rev }) => [id, [rev]]));
  assert.equal((await client.post(`${db}/_purge`, purge)).status, 201);
}

const queries = [
  '_all_docs',
  '_all_docs?descending=true&skip=17&limit=23',
  '_all_docs?skip=150&limit=40&include_docs=true',
  '_all_docs?start_key="green"&end_key="old"',
  '_all_docs?key="missing"',
  '_design_docs',
  '_local_docs?limit=7&skip=3',
  '_design/d/_view/keys?reduce=false',
  '_design/d/_view/keys?reduce=false&descending=true&skip=31&limit=50',
  '_design/d/_view/keys?reduce=false&start_key=[1]&end_key=[3]&include_docs=true',
  '_design/d/_view/keys?group=true',
  '_design/d/_view/keys?group_level=1',
  '_design/d/_view/keys?group_level=1&descending=true&skip=1',
  '_design/d/_view/keys',
  '_design/d/_view/pairs?reduce=false&skip=200&limit=120',
  '_design/d/_view/pairs?reduce=false&key=2',
  '_design/d/_view/pairs?group=true&skip=1&limit=2',
  '_design/d/_view/longest?group=true',
  '_design/d/_view/longest',
  '_revs_limit',
];

const withoutRevs = (text: string): string => text.replace(/"pending":\d+/, '');

test(`databases of three groups answer as those of one do (seed ${seed})`, async (t) => {
  const { one, three } = await startServers();
  for (const client of [one, three]) await fill(client, '/db');

  for (const query of queries) {
    await t.test(`GET ${query}`, async () => {
      const [expected, found] = await Promise.all([one, three].map((client) => client.get(`/db/${query}`)));
      assert.equal(found!.status, expected!.status);
      assert.equal(withoutRevs(found!.text), withoutRevs(expected!.text));
    });
  }

  await t.test('the information on the database', async () => {
    const [expected, found] = await Promise.all(
      [one, three].map(async (client) => (await client.get('/db')).body),
    );
    for (const member of ['doc_count', 'doc_del_count', 'purge_seq', 'cluster', 'sizes.external'])
      assert.deepEqual(found[member], expected[member], member);
    assert.equal(found.sizes.external, expected.sizes.external);
    assert.equal(found.sizes.active > 0, true);
    assert.equal(parseInt(found.update_seq as string), parseInt(expected.update_seq as string));
    const shards = await Promise.all(
      [one, three].map(async (client) => (await client.get('/db/_shards')).body),
    );
    assert.deepEqual(shards[1], shards[0]);
  });

  await t.test('changes, from the beginning, from every place and backwards', async () => {
    const all = await allChanges(three);
    const expected = (await one.get('/db/_changes')).body.results as { id: string; changes: object[] }[];
    const told = (rows: typeof expected): [string, string][] =>
      rows.map(({ id, changes }) => [id, JSON.stringify(changes)] as [string, string]).sort();
    assert.deepEqual(told(all), told(expected));
    const random = new Random(seed + 1);
    for (let round = 0; round < 15; round++) {
      const at = random.below(all.length);
      const rest = (await three.get(`/db/_changes?since=${all[at]!.seq}`)).body;
      assert.equal(rest.results.length, all.length - at - 1);
      assert.equal(rest.pending, 0);
    }
    const half = (await three.get('/db/_changes?limit=100')).body;
    assert.equal(half.pending, all.length - 100);
    const back = (await three.get('/db/_changes?descending=true')).body.results as typeof expected;
    assert.deepEqual(told(back), told(expected));
  });

  await t.test('queries by selector, page by page', async () => {
    await Promise.all(
      [one, three].map((client) => client.post('/db/_index', { index: { fields: ['n'] }, name: 'by-n' })),
    );
    const selectors = [
      { selector: { group: 2 } },
      { selector: { n: { $gt: 20 } }, sort: [{ n: 'asc' }] },
      { selector: { n: { $gt: 20, $lt: 90 } }, sort: [{ n: 'desc' }], fields: ['_id', 'n'] },
    ];
    for (const json of selectors) {
      const [expected, found] = [await allPages(one, json), await allPages(three, json)];
      assert.deepEqual(found, expected);
      assert.ok(found.length > 0);
    }
  });

  await t.test('searches', async () => {
    for (const query of ['red', 'red AND green', 'n:[10 TO 60]', 'updated', 'missing']) {
      const found = await Promise.all([one, three].map((client) => allHits(client, query)));
      assert.deepEqual(found[1], found[0], query);
    }
  });

  await t.test('revisions that are missing, and several documents at once', async () => {
    const { rows } = (await one.get('/db/_all_docs')).body as {
      rows: { id: string; value: { rev: string } }[];
    };
    const asked = Object.fromEntries(rows.slice(0, 40).map(({ id, value }) => [id, [value.rev, '9-abc']]));
    const docs = rows.slice(0, 40).map(({ id }) => ({ id }));
    for (const [path, json] of [
      ['_revs_diff', asked],
      ['_bulk_get', { docs }],
    ] as const) {
      const [expected, found] = await Promise.all(
        [one, three].map((client) => client.post(`/db/${path}`, json)),
      );
      assert.deepEqual(found!.body, expected!.body);
    }
  });
});

interface ChangeRow {
  id: string;
  seq: string;
  changes: object[];
}

/** In pages, each from where the last one ended. */
async function allChanges(client: HttpClient): Promise<ChangeRow[]> {
  const rows: ChangeRow[] = [];
  for (let since = '0'; ;) {
    const { results, last_seq } = (await client.get(`/db/_changes?limit=37&since=${since}`)).body as {
      results: ChangeRow[];
      last_seq: string;
    };
    rows.push(...results);
    if (results.length === 0) return rows;
    since = last_seq;
  }
}

async function allPages(client: HttpClient, query: object): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let bookmark: string | undefined; ;) {
    const json = { ...query, limit: 13, ...(bookmark === undefined ? {} : { bookmark }) };
    const { body } = await client.post('/db/_find', json);
    if (body.docs.length === 0) return found;
    found.push(...(body.docs as unknown[]));
    bookmark = body.bookmark as string;
  }
}

/** The ids of all hits, sorted: how relevant each is depends on how the index is divided. */
async function allHits(client: HttpClient, query: string): Promise<unknown[]> {
  const ids: string[] = [];
  for (let bookmark = 'nil'; ;) {
    const json = { query, limit: 20, bookmark };
    const { status, body } = await client.post('/db/_design/d/_search/words', json);
    assert.equal(status, 200);
    if (body.rows.length === 0) return [body.total_rows, ids.sort()];
    ids.push(...(body.rows as { id: string }[]).map(({ id }) => id));
    bookmark = body.bookmark as string;
  }
}

async function fillAndList(client: HttpClient): Promise<string> {
  await fill(client, '/db');
  return (await client.get('/db/_all_docs')).text;
}

test('a database of three groups is there after a restart, and is gone when it is deleted', async () => {
  const { createServer } = await import('../../src/server/create-server.js');
  const { HttpClient: Client } = await import('../support/http-client.js');
  const dataDir = temporaryFolder();
  const options = { dataDir, admins: { admin: 'secret' }, port: 0, logLevel: 'none' as const };
  process.env['TUFFET_GROUPS'] = '3';
  const first = await createServer(options);
  delete process.env['TUFFET_GROUPS'];
  const before = await fillAndList(new Client(first.url)).finally(() => first.close());
  const second = await createServer(options);
  const client = new Client(second.url);
  try {
    assert.equal((await client.get('/db/_all_docs')).text, before);
    assert.equal((await client.get('/db/_design/d/_view/keys?group=true')).status, 200);
    assert.equal((await client.put('/db/after', {})).status, 201);
    assert.equal((await client.post('/db/_compact', {})).status, 202);
    assert.equal((await client.delete('/db')).status, 200);
    assert.equal((await client.put('/db?q=2')).status, 201);
    assert.equal((await client.get('/db')).body.doc_count, 0);
    assert.deepEqual((await client.get('/db/_all_docs')).body.rows, []);
  } finally {
    await second.close();
  }
});
