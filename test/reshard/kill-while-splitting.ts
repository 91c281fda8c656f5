import assert from 'node:assert/strict';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { checkClosedFolder } from '../crash/closed-folder.js';
import { Writer, type Found } from '../crash/writer.js';
import { ServerProcess } from '../long/server-process.js';
import { Random } from '../model/random.js';
import { HttpClient } from '../support/http-client.js';
import { job, ranges, split, stoppable, until } from './reshard.js';

const db = '/split';

/** What the server has of the documents of some writers. */
export async function found(client: HttpClient, name = db): Promise<Map<string, Found>> {
  const docs = new Map<string, Found>();
  for (const { id, changes, deleted, doc } of (await client.get(`${name}/_changes?include_docs=true`)).body
    .results)
    if (/^w\d/.test(id as string))
      docs.set(id, { rev: changes[0].rev, deleted: deleted === true, ...(deleted ? {} : { doc }) });
  return docs;
}

/** Kills a server again and again while it splits shards and others write; every other time the jobs are waited for. */
export async function killWhileSplitting(t: TestContext, seed: number, rounds: number): Promise<void> {
  const random = new Random(seed);
  const server = await ServerProcess.start(t);
  let client = new HttpClient(server.url);
  assert.equal((await client.put(`${db}?q=1`)).status, 201);
  const docs = Array.from({ length: 6_000 }, (_, n) => ({ _id: `doc-${n}`, n }));
  await client.post(`${db}/_bulk_docs`, { docs });
  await client.put(`${db}/_design/v`, { views: { n: { map: 'function (doc) { emit(doc.n) }' } } });
  await client.get(`${db}/_design/v/_view/n?limit=0`);
  const since = (await client.get(db)).body.update_seq as string;
  const writers = Array.from(
    { length: 2 },
    (_, i) => new Writer(`w${i}`, new Random(seed + i), i * 1_000_000),
  );
  const killedIn = new Set<string>();
  let ids = await split(client, db);
  for (let round = 0; round < rounds; round++) {
    const gate = stoppable(client);
    const writing = Promise.all(writers.map((writer) => writer.run(gate.client, db)));
    await new Promise((resolve) => setTimeout(resolve, random.below(60)));
    for (const id of ids) killedIn.add((await job(client, id)).split_state);
    await server.stop('SIGKILL');
    gate.stop();
    await writing;
    await server.start();
    client = new HttpClient(server.url);
    const now = await found(client);
    for (const writer of writers) writer.check(now);
    if (round % 2 === 0) continue;
    for (const id of ids) await until(client, id, 'completed');
    for (const id of ids) await client.delete(`/_reshard/jobs/${id}`);
    if (round < rounds - 1) ids = await split(client, db);
  }
  for (const writer of writers) writer.check(await found(client));
  assert.equal((await ranges(client, db)).length, 2 ** (rounds / 2));
  const { body: changes } = await client.get(`${db}/_changes?since=${since}`);
  for (const { id } of changes.results) assert.match(id as string, /^w\d/, 'was seen before the splits');
  const { body: info } = await client.get(db);
  const { body: view } = await client.get(`${db}/_design/v/_view/n?limit=0`);
  assert.equal(view.total_rows, info.doc_count - 1);
  t.diagnostic(`killed in ${[...killedIn].join(', ')}`);
  await server.stop('SIGTERM');
  await checkClosedFolder(path.join(server.folder, 'data'));
}
