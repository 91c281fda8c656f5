import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ServerProcess } from '../long/server-process.js';
import { Random, seed } from '../model/random.js';
import { HttpClient } from '../support/http-client.js';
import { Churn } from './churn.js';
import { checkClosedFolder } from './closed-folder.js';
import { kills } from './kills.js';
import { Writer, type Found } from './writer.js';

const rounds = kills(22);
const loadMsMax = 700;
const db = '/kept';

test(`a killed server has lost nothing it acknowledged, and nothing is half written (seed ${seed})`, async (t) => {
  const random = new Random(seed);
  const server = await ServerProcess.start(t);
  const data = path.join(server.folder, 'data');
  const writers = Array.from(
    { length: 4 },
    (_, i) => new Writer(`w${i}`, new Random(seed + i), i * 1_000_000),
  );
  const churn = new Churn(new Random(seed + writers.length));
  const generations = new Set<string>();
  assert.equal((await new HttpClient(server.url).put(db)).status, 201);

  for (let round = 0; round < rounds; round++) {
    const client = new HttpClient(server.url);
    const load = [...writers.map((writer) => writer.run(client, db)), churn.run(client), compactions(client)];
    const failed = Promise.all(load).then(() => undefined);
    await Promise.race([failed, sleep(20 + random.below(loadMsMax))]);
    await server.stop('SIGKILL');
    await failed;
    for (const name of fs.readdirSync(path.join(data, 'documents'))) generations.add(name);
    // Every other time the server itself is the first to open what the kill has left.
    if (random.oneIn(2)) await checkClosedFolder(data);
    await server.start();
    await checkServed(new HttpClient(server.url), writers, churn);
  }

  await server.stop('SIGTERM');
  const scan = (await checkClosedFolder(data)).get(db.slice(1))!;
  const applied = writers.reduce((sum, writer) => sum + writer.applied, 0);
  assert.equal(
    scan.docs.size,
    writers.reduce((sum, writer) => sum + writer.ids.length, 0),
  );
  t.diagnostic(
    `${applied} edits of ${scan.docs.size} documents; volume folders seen: ${[...generations].join(' ')}`,
  );
  assert.ok(applied > rounds * 10, 'the load was a load');
});

/** Everything that clients remember is there, and the counters say the same. */
async function checkServed(client: HttpClient, writers: readonly Writer[], churn: Churn): Promise<void> {
  const found = await everything(client, writers);
  for (const writer of writers) writer.check(found);
  const sum = (value: (writer: Writer) => number): number =>
    writers.reduce((total, each) => total + value(each), 0);
  const { body: info } = await client.get(db);
  assert.equal(
    info.doc_count,
    sum((writer) => writer.live),
  );
  assert.equal(
    info.doc_del_count,
    sum((writer) => writer.deleted),
  );
  assert.equal(
    parseInt(info.update_seq as string, 10),
    sum((writer) => writer.applied),
    'one sequence for each edit',
  );
  const { body: page } = await client.get(`${db}/_all_docs?limit=1&skip=10`);
  assert.equal(page.total_rows, info.doc_count);
  await churn.check(client);
}

async function everything(client: HttpClient, writers: readonly Writer[]): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  const { body } = await client.get(`${db}/_all_docs?include_docs=true`);
  for (const { id, value, doc } of body.rows) found.set(id, { rev: value.rev, deleted: false, doc });
  const keys = writers.flatMap(({ ids }) => ids).filter((id) => !found.has(id));
  const { body: rest } = await client.post(`${db}/_all_docs`, { keys });
  for (const { id, value } of rest.rows) if (value?.deleted) found.set(id, { rev: value.rev, deleted: true });
  return found;
}

/** Compacts again and again until the server is gone. */
async function compactions(client: HttpClient): Promise<void> {
  try {
    for (;;) {
      await client.post(`${db}/_compact`);
      await sleep(30);
    }
  } catch {
    return;
  }
}

const sleep = (ms: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(resolve, ms, undefined));
