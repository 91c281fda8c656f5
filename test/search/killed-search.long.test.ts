import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerProcess } from '../long/server-process.js';
import { Random, seed } from '../model/random.js';
import { HttpClient } from '../support/http-client.js';
import { randomQuery } from './naive-search.js';
import { corpusIndex, RandomCorpus, randomFrom, vocabulary, type Hit } from './random-corpus.js';

const docsCount = 1_200;
const db = '/searched';
const path = `${db}/_design/s/_search/i`;
const index = "function (doc) { index('default', doc.text); index('n', doc.n); }";

/** Words that tell which of a few groups a document is in, and enough others for several commits. */
const textOf = (n: number): string =>
  `group${n % 7} ${Array.from({ length: 80 }, (_, i) => `w${(n * 31 + i * 17) % 5_000}`).join(' ')}`;

test(`a search index whose filling was killed finds every document once (seed ${seed})`, async (t) => {
  const random = new Random(seed);
  const server = await ServerProcess.start(t);
  let client = new HttpClient(server.url);
  const numbers = new Map<string, number>();
  await client.put(db);
  await client.put(`${db}/_design/s`, { indexes: { i: { index } } });
  const docs = Array.from({ length: docsCount }, (_, n) => ({ _id: `d${n}`, n, text: textOf(n) }));
  for (const { _id, n } of docs) numbers.set(_id, n);
  await client.post(`${db}/_bulk_docs`, { docs });
  for (let round = 0; round < 3; round++) {
    const query = client.get(`${path}?q=group1&limit=0`).catch(() => undefined);
    await Promise.race([query, new Promise((resolve) => setTimeout(resolve, random.below(1_500)))]);
    await server.stop('SIGKILL');
    await query;
    await server.start();
    client = new HttpClient(server.url);
    const { body: old } = await client.get(`${db}/d${round}`);
    const n = docsCount + round;
    await client.put(`${db}/d${round}`, { ...old, n, text: textOf(n) });
    numbers.set(`d${round}`, n);
    const { body: gone } = await client.get(`${db}/d${100 + round}`);
    await client.send('DELETE', `${db}/d${100 + round}?rev=${String(gone._rev)}`);
    numbers.delete(`d${100 + round}`);
  }
  for (let group = 0; group < 7; group++) {
    const expected = [...numbers].filter(([, n]) => n % 7 === group).map(([id]) => id);
    const { body } = await client.get(`${path}?q=group${group}&limit=200&sort="n<number>"`);
    assert.equal(body.total_rows, expected.length);
    assert.deepEqual(body.rows.map(({ id }: { id: string }) => id).sort(), expected.sort());
  }
  const { body: info } = await client.get(`${db}/_design/s/_search_info/i`);
  assert.equal(info.search_index.doc_count, numbers.size);
});

/** Takes a while for each document, so that most kills come while the index is being filled. */
const slowIndex = {
  ...corpusIndex,
  index: corpusIndex.index.replace('{', '{ for (var i = 0; i < 50000; i++);'),
};

test(`after kills, random queries find what a look at every document finds, in the same order (seed ${seed})`, async (t) => {
  const random = new Random(seed);
  const server = await ServerProcess.start(t);
  const corpus = new RandomCorpus(new HttpClient(server.url), '/random', randomFrom(seed));
  await corpus.client.put('/random?q=2');
  await corpus.client.put('/random/_design/s', { indexes: { i: slowIndex } });
  const search = '/random/_design/s/_search/i';
  for (let round = 0; round < 6; round++) {
    // Some of them are purged, or deleted.
    await corpus.change(150, 190);
    const filling = corpus.client.get(`${search}?q=aa&limit=0`).catch(() => undefined);
    await Promise.race([filling, new Promise((resolve) => setTimeout(resolve, random.below(1_200)))]);
    await server.stop('SIGKILL');
    await filling;
    await server.start();
    corpus.client = new HttpClient(server.url);
    // Purges and changes that the index has not seen when it goes on.
    if (round % 2 === 0) await corpus.change(20, 190);
    for (let i = 0; i < 12; i++) {
      const query = randomQuery(vocabulary, corpus.random);
      const { status, body } = await corpus.client.post(search, { q: query.text, limit: 200 });
      assert.equal(status, 200, JSON.stringify(body));
      corpus.checkHits(query, body.rows as Hit[], body.total_rows);
    }
  }
  const { body: info } = await corpus.client.get('/random/_design/s/_search_info/i');
  assert.equal(info.search_index.doc_count, corpus.docs.size);
});
