import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const dimensions = 8;

/** The same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const index = `function (doc) {
  if (doc.vector) index('embedding', doc.vector, { vector: { dimensions: ${dimensions} } });
  if (doc.text) index('default', doc.text, { store: true });
}`;

interface VectorDoc {
  vector: number[];
  text: string;
}

interface Row {
  id: string;
  order: number[];
}

const scores = {
  dot: (a: readonly number[], b: readonly number[]) => dot(a, b),
  cosine: (a: readonly number[], b: readonly number[]) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)),
  euclidean: (a: readonly number[], b: readonly number[]) =>
    1 / (1 + Math.sqrt(a.reduce((sum, each, i) => sum + (each - b[i]!) ** 2, 0))),
};

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, each, i) => sum + each * b[i]!, 0);

async function newIndex(query = ''): Promise<string> {
  const db = await newDb(client, query);
  assertOk(await client.put(`${db}/_design/s`, { indexes: { i: { index } } }), 201);
  return db;
}

test('the nearest vectors are those of a look at every one, while documents change', async () => {
  const random = randomFrom(4_711);
  const vector = (): number[] => Array.from({ length: dimensions }, () => Math.fround(random() * 2 - 1));
  const db = await newIndex('?q=2');
  const docs = new Map<string, VectorDoc>();
  const revs = new Map<string, string>();
  for (let round = 0; round < 5; round++) {
    const ids = new Set(Array.from({ length: 60 }, () => `doc${Math.floor(random() * 150)}`));
    const body = [...ids].map((_id) => {
      const rev = revs.get(_id);
      if (rev !== undefined && random() < 0.3) return { _id, _rev: rev, _deleted: true };
      return { _id, ...(rev && { _rev: rev }), vector: vector(), text: random() < 0.3 ? 'red' : 'blue' };
    });
    const saved = await client.post(`${db}/_bulk_docs`, { docs: body });
    assertOk(saved, 201);
    for (const [i, { id, rev }] of (saved.body as { id: string; rev: string }[]).entries()) {
      const doc = body[i]!;
      if ('vector' in doc) {
        docs.set(id, doc);
        revs.set(id, rev);
      } else {
        docs.delete(id);
        revs.delete(id);
      }
    }
    const [purged] = docs.keys();
    await client.post(`${db}/_purge`, { [purged!]: [revs.get(purged!)] });
    docs.delete(purged!);
    revs.delete(purged!);
    for (const similarity of ['cosine', 'dot', 'euclidean'] as const) {
      const probe = vector();
      const knn = { field: 'embedding', vector: probe, k: 20, similarity };
      const answer = await client.post(`${db}/_design/s/_search/i`, { knn, limit: 200 });
      assertOk(answer, 200);
      const expected = [...docs]
        .map(([id, doc]) => ({ id, score: scores[similarity](probe, doc.vector) }))
        .sort((a, b) => b.score - a.score)
        .slice(0, 20);
      const rows = answer.body.rows as Row[];
      assert.deepEqual(
        rows.map(({ id }) => id),
        expected.map(({ id }) => id),
      );
      assert.equal(answer.body.total_rows, expected.length);
      for (const [i, { order }] of rows.entries())
        assert.ok(Math.abs(order[0]! - expected[i]!.score) < 1e-6, `${order[0]} ${expected[i]!.score}`);
    }
    await checkMerged(db, docs, vector());
  }
});

/** Reciprocal ranks of the list of the words and that of the vector. */
async function checkMerged(db: string, docs: Map<string, VectorDoc>, probe: number[]): Promise<void> {
  const path = `${db}/_design/s/_search/i`;
  const knn = { field: 'embedding', vector: probe, k: 15 };
  const words = await client.post(path, { q: 'red', limit: 100 });
  const near = await client.post(path, { knn, limit: 100 });
  const ranks = new Map<string, number>();
  for (const { body } of [words, near])
    for (const [i, { id }] of (body.rows as Row[]).entries())
      ranks.set(id, (ranks.get(id) ?? 0) + 1 / (60 + i + 1));
  assert.equal(
    (words.body.rows as Row[]).length,
    [...docs.values()].filter(({ text }) => text === 'red').length,
  );
  const seen: Row[] = [];
  let bookmark: string | undefined;
  for (;;) {
    const page = await client.post(path, { q: 'red', knn, limit: 7, bookmark });
    assertOk(page, 200);
    const rows = page.body.rows as Row[];
    assert.equal(page.body.total_rows, ranks.size);
    if (rows.length === 0) break;
    seen.push(...rows);
    bookmark = page.body.bookmark as string;
  }
  assert.deepEqual(seen.map(({ id }) => id).sort(), [...ranks.keys()].sort());
  for (const [i, { id, order }] of seen.entries()) {
    assert.ok(Math.abs(order[0]! - ranks.get(id)!) < 1e-12);
    if (i > 0) assert.ok(seen[i - 1]!.order[0]! >= order[0]!);
  }
}

describe('Vectors', () => {
  test('a document whose vector has other dimensions than declared is not indexed', async () => {
    const db = await newIndex();
    const vector = Array<number>(dimensions).fill(1);
    await client.put(`${db}/good`, { vector, text: 'word' });
    await client.put(`${db}/short`, { vector: [1, 2], text: 'word' });
    await client.put(`${db}/wrong`, { vector: [...vector.slice(1), 'x'], text: 'word' });
    await client.put(`${db}/huge`, { vector: [...vector.slice(1), 1e300], text: 'word' });
    const { body } = await client.get(`${db}/_design/s/_search/i?q=word`);
    assert.deepEqual(
      (body.rows as Row[]).map(({ id }) => id),
      ['good'],
    );
  });

  test('a query of other dimensions is refused and told of the right ones', async () => {
    const db = await newIndex();
    await client.put(`${db}/a`, { vector: Array<number>(dimensions).fill(1) });
    const knn = { field: 'embedding', vector: [1, 2, 3] };
    const answer = await client.post(`${db}/_design/s/_search/i`, { knn });
    assertRefused(answer, 400, 'bad_request');
    assert.match(answer.body.reason as string, /have 8 dimensions, that of the query has 3/);
  });

  test('a vector with the option store is returned in fields', async () => {
    const db = await newDb(client);
    const source = `function (doc) { index('v', doc.v, {vector: true, store: true}); index('w', doc.v, {vector: true}); }`;
    await client.put(`${db}/_design/s`, { indexes: { i: { index: source } } });
    await client.put(`${db}/a`, { v: [0.5, 2] });
    const { body } = await client.post(`${db}/_design/s/_search/i`, { knn: { field: 'v', vector: [1, 2] } });
    assert.deepEqual((body.rows as { fields: object }[])[0]!.fields, { v: [0.5, 2] });
  });

  test('an index without vectors finds none', async () => {
    const db = await newIndex();
    await client.put(`${db}/a`, { text: 'word' });
    const { body } = await client.post(`${db}/_design/s/_search/i`, {
      knn: { field: 'embedding', vector: [1] },
    });
    assert.deepEqual([body.total_rows, body.rows], [0, []]);
  });

  test('partitions are searched by themselves', async () => {
    const db = await newIndex('?partitioned=true');
    const vector = Array<number>(dimensions).fill(1);
    for (const _id of ['a:1', 'a:2', 'b:1']) await client.post(db, { _id, vector });
    const knn = JSON.stringify({ field: 'embedding', vector });
    const { body } = await client.get(
      `${db}/_partition/a/_design/s/_search/i?knn=${encodeURIComponent(knn)}`,
    );
    assert.deepEqual((body.rows as Row[]).map(({ id }) => id).sort(), ['a:1', 'a:2']);
  });

  const vector = [1, 2];
  const refused: [name: string, body: object][] = [
    ['no object', { knn: [1] }],
    ['no field', { knn: { vector } }],
    ['no vector', { knn: { field: 'embedding' } }],
    ['an empty vector', { knn: { field: 'embedding', vector: [] } }],
    ['a vector of strings', { knn: { field: 'embedding', vector: ['1'] } }],
    ['a vector that is too long', { knn: { field: 'embedding', vector: Array(5_000).fill(1) } }],
    ['numbers that floats cannot hold', { knn: { field: 'embedding', vector: [1e200] } }],
    ['no neighbours', { knn: { field: 'embedding', vector, k: 0 } }],
    ['too many neighbours', { knn: { field: 'embedding', vector, k: 1e6 } }],
    ['an unknown similarity', { knn: { field: 'embedding', vector, similarity: 'x' } }],
    ['a sort', { knn: { field: 'embedding', vector }, sort: '_id' }],
    ['counts', { knn: { field: 'embedding', vector }, counts: ['a'] }],
  ];
  for (const [name, body] of refused)
    test(`${name}: refused with 400`, async () => {
      const db = await newIndex();
      assertRefused(await client.post(`${db}/_design/s/_search/i`, body), 400, 'bad_request');
    });
});
