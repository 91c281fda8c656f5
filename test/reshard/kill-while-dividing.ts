import assert from 'node:assert/strict';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { checkClosedFolder } from '../crash/closed-folder.js';
import { Writer } from '../crash/writer.js';
import { ServerProcess } from '../long/server-process.js';
import { Random } from '../model/random.js';
import { tuffet } from '../operations/cli.js';
import { HttpClient } from '../support/http-client.js';
import { found } from './kill-while-splitting.js';
import { divide, job, stoppable, until } from './reshard.js';

const db = '/divided';
const states = [
  'initial_copy',
  'topoff1',
  'build_indices',
  'topoff2',
  'copy_local_docs',
  'update_shardmap',
  'wait_source_close',
  'topoff3',
  'source_delete',
  'completed',
];

/** Waits until a job has come to a state, or beyond it; gives the one it is in. */
async function reached(client: HttpClient, id: string, state: string): Promise<string> {
  for (const deadline = Date.now() + 60_000; ;) {
    const { split_state } = await job(client, id);
    if (states.indexOf(split_state) >= states.indexOf(state)) return split_state;
    assert.ok(Date.now() < deadline, `the job does not come to ${state}`);
  }
}

/** Kills a server in each of these states of a division, while others write; after each the job is waited for. */
export async function killWhileDividing(
  t: TestContext,
  seed: number,
  wanted: readonly string[],
): Promise<void> {
  const server = await ServerProcess.start(t);
  let client = new HttpClient(server.url);
  assert.equal((await client.put(`${db}?q=16`)).status, 201);
  const docs = Array.from({ length: 2_000 }, (_, n) => ({ _id: `doc-${n}`, n }));
  await client.post(`${db}/_bulk_docs`, { docs });
  await client.put(`${db}/_design/v`, { views: { n: { map: 'function (doc) { emit(doc.n) }' } } });
  await client.get(`${db}/_design/v/_view/n?limit=0`);
  const since = (await client.get(db)).body.update_seq as string;
  const writers = [0, 1].map((i) => new Writer(`w${i}`, new Random(seed + i), i * 1_000_000));
  const killedIn: string[] = [];
  for (const state of wanted) {
    const gate = stoppable(client);
    const writing = Promise.all(writers.map((writer) => writer.run(gate.client, db)));
    // One group of those there are: that of the first shard.
    const [id] = await divide(client, db, { range: '00000000-0fffffff' });
    killedIn.push(await reached(client, id!, state));
    await server.stop('SIGKILL');
    gate.stop();
    await writing;
    await server.start();
    client = new HttpClient(server.url);
    const now = await found(client, db);
    for (const writer of writers) writer.check(now);
    await until(client, id!, 'completed');
    await client.delete(`/_reshard/jobs/${id!}`);
    const after = await found(client, db);
    for (const writer of writers) writer.check(after);
  }
  const { body: changes } = await client.get(`${db}/_changes?since=${since}`);
  for (const { id } of changes.results) assert.match(id as string, /^w\d/, 'was seen before the divisions');
  const { body: info } = await client.get(db);
  const { body: view } = await client.get(`${db}/_design/v/_view/n?limit=0`);
  assert.equal(view.total_rows, info.doc_count - 1);
  t.diagnostic(`killed in ${killedIn.join(', ')}`);
  await server.stop('SIGTERM');
  const folder = path.join(server.folder, 'data');
  await checkClosedFolder(folder);
  const checked = await tuffet('check', '--data', folder);
  assert.equal(checked.code, 0, checked.stdout + checked.stderr);
}
