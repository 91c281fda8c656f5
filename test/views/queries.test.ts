import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random, seed } from '../model/random.js';
import type { HttpClient } from '../support/http-client.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { modelAnswer, randomKey, randomQuery, type ModelDoc, type ModelQuery } from './view-model.js';

const design = {
  views: {
    v: {
      map: 'function (doc) { doc.keys.forEach(function (key) { emit(key, doc.value) }) }',
      reduce: '_sum',
    },
    js: {
      map: 'function (doc) { doc.keys.forEach(function (key) { emit(key, doc.value) }) }',
      reduce: 'function (keys, values, rereduce) { return sum(values) }',
    },
  },
};

const rounds = 25;
const queriesEach = 12;

/** Changes random documents and asks random questions, again and again. */
async function compareWithModel(client: HttpClient, start: number): Promise<void> {
  const random = new Random(start);
  const db = await newDb(client, `?q=${1 + random.below(4)}`);
  await client.put(`${db}/_design/d`, design);
  const docs = new Map<string, ModelDoc & { rev: string }>();
  for (let round = 0; round < rounds; round++) {
    await change(client, db, docs, random);
    for (let i = 0; i < queriesEach; i++) {
      const query = randomQuery(random);
      const view = random.oneIn(3) ? 'js' : 'v';
      const { status, body } = await client.post(`${db}/_design/d/_view/${view}`, query);
      const shown = { ...(body as Record<string, unknown>) };
      delete shown['offset'];
      assert.deepEqual(shown, modelAnswer(docs, query), `seed ${start}, ${view} ${JSON.stringify(query)}`);
      assert.equal(status, 200);
    }
  }
}

async function change(
  client: HttpClient,
  db: string,
  docs: Map<string, ModelDoc & { rev: string }>,
  random: Random,
): Promise<void> {
  const batch: (ModelDoc & { _id: string; _rev?: string; _deleted?: boolean })[] = [];
  for (let i = 0; i < 15; i++) {
    const id = `doc${random.below(60)}`;
    if (batch.some(({ _id }) => _id === id)) continue;
    const old = docs.get(id);
    const keys = Array.from({ length: random.below(4) }, () => randomKey(random));
    const doc = { _id: id, keys, value: random.below(100), ...(old && { _rev: old.rev }) };
    batch.push(old !== undefined && random.oneIn(4) ? { ...doc, _deleted: true } : doc);
  }
  const { body } = await client.post(`${db}/_bulk_docs`, { docs: batch });
  for (const [i, { id, rev }] of (body as { id: string; rev: string }[]).entries()) {
    const saved = batch[i]!;
    if ('_deleted' in saved) docs.delete(id);
    else docs.set(id, { keys: saved.keys, value: saved.value, rev });
  }
}

test('random queries of a changing view answer what a plain search of the rows answers', async () => {
  await compareWithModel(await startServer(), seed);
});

test('the same holds for indexes on disk', async () => {
  await compareWithModel(await startServer({ dataDir: temporaryFolder() }), seed + 1);
});

const offsets: [ModelQuery, number][] = [
  [{}, 0],
  [{ startkey: 3 }, 3],
  [{ startkey: 3, skip: 2 }, 5],
  [{ startkey: 3, skip: 200 }, 10],
  [{ startkey: 2.5 }, 3],
  [{ startkey: 7, descending: true }, 2],
  [{ key: 4, descending: true }, 5],
  [{ key: 99 }, 10],
];

test('offset is the number of rows before the first one, in the direction of the query', async () => {
  const client = await startServer();
  const db = await newDb(client);
  await client.put(`${db}/_design/d`, { views: { v: { map: 'function (doc) { emit(doc.n, null) }' } } });
  await client.post(`${db}/_bulk_docs`, { docs: Array.from({ length: 10 }, (_, n) => ({ n })) });
  for (const [query, offset] of offsets) {
    const { body } = await client.post(`${db}/_design/d/_view/v`, query);
    assert.equal(body.offset, offset, JSON.stringify(query));
  }
});

test('a large view is answered whole, piece by piece, while the documents change', async () => {
  const client = await startServer({ dataDir: temporaryFolder() });
  const db = await newDb(client);
  const map = 'function (doc) { emit([doc.n, "x"], doc.text); emit([doc.n, "y"], null) }';
  await client.put(`${db}/_design/d`, { views: { v: { map, reduce: '_count' } } });
  const docs = Array.from({ length: 3_000 }, (_, n) => ({ _id: `d${n}`, n, text: 'long '.repeat(20) }));
  await client.post(`${db}/_bulk_docs`, { docs });
  const all = client.get(`${db}/_design/d/_view/v?reduce=false&include_docs=true`);
  const writes = Promise.all(
    Array.from({ length: 50 }, (_, n) => client.put(`${db}/late${n}`, { n: 10_000 + n, text: '' })),
  );
  const { rows } = (await all).body as { rows: { key: [number, string] }[] };
  await writes;
  const early = rows.filter(({ key: [n] }) => n < 3_000);
  assert.deepEqual(
    early.map(({ key }) => key),
    docs.flatMap(({ n }) => [
      [n, 'x'],
      [n, 'y'],
    ]),
  );
  const groups = await client.get(`${db}/_design/d/_view/v?group=true`);
  assert.equal((groups.body as { rows: unknown[] }).rows.length, 6_100);
});

test('map functions get frozen documents: what they assign is lost, at any depth and in every view', async () => {
  const client = await startServer();
  const db = await newDb(client);
  await client.put(`${db}/a`, { n: 1, deep: [{ m: 1 }] });
  const views = {
    changes: {
      map: 'function (doc) { doc.n = 9; doc.deep[0].m = 9; doc.x = 1; delete doc.deep; emit(doc.n, doc.deep); }',
    },
    reads: { map: 'function (doc) { emit(doc.n, doc.x === undefined); }' },
    throws: { map: 'function (doc) { "use strict"; emit(1, 1); doc.n = 9; }' },
  };
  await client.put(`${db}/_design/d`, { views });
  const rows = async (name: string) => (await client.get(`${db}/_design/d/_view/${name}`)).body.rows;
  assert.deepEqual(await rows('changes'), [{ id: 'a', key: 1, value: [{ m: 1 }] }]);
  assert.deepEqual(await rows('reads'), [{ id: 'a', key: 1, value: true }]);
  assert.deepEqual(await rows('throws'), []);
  assert.deepEqual((await client.get(`${db}/a`)).body.n, 1);
});
