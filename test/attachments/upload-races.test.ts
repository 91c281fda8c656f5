import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random, seed } from '../model/random.js';
import { assertOk } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { fileSize, getBytes, noise, putBytes, sendBytes } from './attachment-client.js';
import { eventually, keptBlobs, unfinished } from './kept-files.js';

const dataDir = temporaryFolder();
const client = await startServer({ dataDir });
const contents = Array.from({ length: 3 }, (_, i) => noise(fileSize, 100 + i));
const runMs = 2_500;

/** Puts, replaces, purges and deletes a document of its own, always with the same few contents. */
async function churn(db: string, id: string, random: Random, until: number): Promise<number> {
  let steps = 0;
  for (let rev: string | undefined; Date.now() < until; steps++) {
    const which = random.below(contents.length);
    rev = await putBytes(client, `${db}/${id}/f${rev === undefined ? '' : `?rev=${rev}`}`, contents[which]!);
    assert.deepEqual((await getBytes(client, `${db}/${id}/f`)).bytes, contents[which]);
    if (random.oneIn(3)) {
      const answer = await client.put(`${db}/${id}`, { _rev: rev, _attachments: { f: { stub: true } } });
      assertOk(answer, 201);
      rev = answer.body.rev as string;
      assert.deepEqual((await getBytes(client, `${db}/${id}/f`)).bytes, contents[which]);
    }
    if (random.oneIn(2)) {
      assertOk(await client.post(`${db}/_purge`, { [id]: [rev] }), 201);
      rev = (await client.get(`${db}/${id}`)).body._rev as string | undefined;
    }
  }
  return steps;
}

async function compactions(db: string, until: number): Promise<void> {
  while (Date.now() < until) {
    assertOk(await client.post(`${db}/_compact`), 202);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
}

test(`bytes that come and go in many documents at once are there whenever one names them (seed ${seed})`, async (t) => {
  const dbs = [await newDb(client, '?q=2'), await newDb(client, '?q=1')];
  const until = Date.now() + runMs;
  const clients = dbs.flatMap((db, i) =>
    [0, 1, 2].map((n) => churn(db, `doc${n}`, new Random(seed + 10 * i + n), until)),
  );
  await Promise.all(dbs.map((db) => compactions(db, until)));
  const steps = await Promise.all(clients);
  t.diagnostic(`${steps.reduce((a, b) => a + b, 0)} rounds`);
  for (const db of dbs) {
    const { body } = await client.get(`${db}/_all_docs`);
    for (const { id } of body.rows) assert.equal((await getBytes(client, `${db}/${id}/f`)).status, 200);
    assertOk(await client.delete(db), 200);
  }
  assert.deepEqual(unfinished(dataDir), []);
  // What was being read or uploaded when its turn came is left for the next compaction.
  assertOk(await client.post(`${await newDb(client)}/_compact`), 202);
  await eventually(() => keptBlobs(dataDir), [], 'nobody needs anything any more');
});

test('uploads of one attachment from many clients: one wins each round, and its bytes are read', async () => {
  const db = await newDb(client);
  const before = keptBlobs(dataDir).length;
  let rev = await putBytes(client, `${db}/d/f`, 'begin');
  for (let round = 0; round < 8; round++) {
    const bodies = Array.from({ length: 5 }, (_, i) => noise(fileSize, 1_000 + round * 10 + i));
    const answers = await Promise.all(
      bodies.map((body) => sendBytes(client, 'PUT', `${db}/d/f?rev=${rev}`, { body })),
    );
    const won = answers.findIndex(({ status }) => status === 201);
    assert.equal(answers.filter(({ status }) => status === 409).length, 4);
    rev = (JSON.parse(answers[won]!.bytes.toString()) as { rev: string }).rev;
    assert.deepEqual((await getBytes(client, `${db}/d/f`)).bytes, bodies[won]);
    assert.equal(keptBlobs(dataDir).length - before, round + 1, 'those that lost left nothing');
  }
  assertOk(await client.delete(db), 200);
  await eventually(() => keptBlobs(dataDir).length, before, 'the database is gone');
});
