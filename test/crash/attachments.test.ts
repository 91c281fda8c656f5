import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually, keptBlobs, unfinished } from '../attachments/kept-files.js';
import { ServerProcess } from '../long/server-process.js';
import { Random, seed } from '../model/random.js';
import { HttpClient } from '../support/http-client.js';
import { kills } from './kills.js';
import { Uploader } from './uploader.js';

const rounds = kills(10);
const loadMsMax = 900;
const db = '/kept';

test(`a killed server has every attachment it acknowledged, and no file besides (seed ${seed})`, async (t) => {
  const random = new Random(seed);
  const server = await ServerProcess.start(t);
  const data = path.join(server.folder, 'data');
  const uploaders = Array.from({ length: 5 }, (_, i) => new Uploader(`u${i}`, new Random(seed + i)));
  assert.equal((await new HttpClient(server.url).put(`${db}?q=2`)).status, 201);
  let leftovers = 0;

  for (let round = 0; round < rounds; round++) {
    const client = new HttpClient(server.url);
    const load = [...uploaders.map((each) => each.run(client, db)), compactions(client)];
    const failed = Promise.all(load).then(() => undefined);
    await Promise.race([failed, sleep(30 + random.below(loadMsMax))]);
    await server.stop('SIGKILL');
    await failed;
    leftovers += unfinished(data).length;
    await server.start();
    const restarted = new HttpClient(server.url);
    for (const uploader of uploaders) await uploader.check(restarted, db);
    assert.deepEqual(unfinished(data), [], 'the start has removed what uploads left behind');
    await checkFiles(restarted, data, uploaders);
  }

  const counted = uploaders.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  t.diagnostic(`${counted} uploads acknowledged; ${leftovers} were under way when the server was killed`);
  assert.ok(counted > rounds, 'the load was a load');
  assert.equal((await new HttpClient(server.url).delete(db)).status, 200);
  await eventually(() => keptBlobs(data), [], 'the database is gone, and all its bytes');
});

/** When the start has settled, every file is named by some revision that is kept: after a compaction, by a leaf. */
async function checkFiles(client: HttpClient, data: string, uploaders: readonly Uploader[]): Promise<void> {
  assert.equal((await client.post(`${db}/_compact`)).status, 202);
  const named = new Set<string>();
  for (const uploader of uploaders) for (const each of uploader.files()) named.add(each);
  await eventually(() => keptBlobs(data), [...named].sort(), 'the files are those that documents name');
  for (const blob of named) {
    const file = path.join(data, 'attachments', blob.slice(0, 2), blob.slice(2));
    assert.ok(fs.statSync(file).size > 0);
  }
}

/** Compacts again and again until the server is gone. */
async function compactions(client: HttpClient): Promise<void> {
  try {
    for (;;) {
      await client.post(`${db}/_compact`);
      await sleep(40);
    }
  } catch {
    return;
  }
}

const sleep = (ms: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(resolve, ms, undefined));
