import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerProcess } from '../long/server-process.js';
import { Random, seed } from '../model/random.js';
import { HttpClient } from '../support/http-client.js';

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
