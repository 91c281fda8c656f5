/** Indexes lie in several stores, each filled by a thread of its own. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { asBytes } from '../../src/base/bytes.js';
import { currentFolder, hasFolder, slotsIn } from '../../src/indexes/index-folder.js';
import { firstNumberOf, indexesPrefix, numberOf, slotOfNumber } from '../../src/indexes/index-keys.js';
import { createServer } from '../../src/server/create-server.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { prefixEnd } from '../../src/storage/store.js';
import { HttpClient, type Answer } from '../support/http-client.js';
import { temporaryFolder } from '../support/server.js';

const databases = Array.from({ length: 6 }, (_, n) => `/d${n}`);
const design = { views: { v: { map: 'function (doc) { emit(doc.n, doc.n) }', reduce: '_sum' } } };
const view = '_design/d/_view/v';

async function served<T>(
  dataDir: string,
  threads: number,
  work: (client: HttpClient) => Promise<T>,
): Promise<T> {
  const server = await createServer({
    dataDir,
    port: 0,
    logLevel: 'none',
    admins: { admin: 'secret' },
    config: { tuffet: { index_threads: String(threads) } },
  });
  try {
    return await work(new HttpClient(server.url));
  } finally {
    await server.close();
  }
}

async function fill(client: HttpClient, names: readonly string[]): Promise<void> {
  for (const db of names) {
    await client.put(db, undefined);
    await client.put(`${db}/_design/d`, design);
    await client.post(`${db}/_bulk_docs`, { docs: Array.from({ length: 20 }, (_, n) => ({ n })) });
  }
  await Promise.all(names.map((db) => client.get(`${db}/${view}`)));
}

async function rowCounts(client: HttpClient, names: readonly string[], query: string): Promise<number[]> {
  const answers = await Promise.all(names.map((db) => client.get(`${db}/${view}?reduce=false${query}`)));
  return answers.map(({ body }) => body.rows.length);
}

const slotsOf = (dataDir: string): string[] => fs.readdirSync(path.join(dataDir, 'indexes')).sort();
const attemptsMax = 100;
const full = databases.map(() => 20);

test('databases are dealt out to as many stores as there are threads', async () => {
  const dataDir = temporaryFolder();
  await served(dataDir, 3, async (client) => {
    await fill(client, databases);
    assert.deepEqual(await rowCounts(client, databases, ''), full);
    assert.deepEqual(slotsOf(dataDir), ['1', '1.1', '2.1']);
    await client.put(`${databases[1]!}/more`, { n: 1 });
    assert.deepEqual(await rowCounts(client, [databases[1]!], ''), [21]);
    const { body } = await client.get(`${databases[1]!}/_design/d/_info`);
    assert.ok(body.view_index.sizes.file >= body.view_index.sizes.active);
  });
});

test('indexes stay where they are, whatever number of threads a server is started with', async () => {
  const dataDir = temporaryFolder();
  await served(dataDir, 1, (client) => fill(client, databases));
  assert.deepEqual(slotsOf(dataDir), ['1']);
  const more = databases.map((db) => `${db}-more`);
  await served(dataDir, 3, async (client) => {
    assert.deepEqual(await rowCounts(client, databases, '&update=false'), full, 'nothing is built anew');
    await fill(client, more);
    assert.deepEqual(slotsOf(dataDir), ['1', '1.1', '2.1']);
  });
  await served(dataDir, 1, async (client) => {
    assert.deepEqual(await rowCounts(client, [...databases, ...more], '&update=false'), [...full, ...full]);
    await client.delete(more[0]!);
    assert.deepEqual(await rowCounts(client, more.slice(1), ''), full.slice(1));
  });
});

test('a damaged index of any store is built anew', async () => {
  const dataDir = temporaryFolder();
  await served(dataDir, 3, (client) => fill(client, databases));
  for (const name of slotsOf(dataDir)) await damageTrees(path.join(dataDir, 'indexes', name));
  await served(dataDir, 3, async (client) => {
    for (const db of databases) {
      assert.deepEqual((await untilBuilt(client, db)).body, { rows: [{ key: null, value: 190 }] });
    }
  });
});

/** Damage is met by one request after the other. */
async function untilBuilt(client: HttpClient, db: string): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await client.get(`${db}/${view}`);
    if (answer.status !== 503 || attempt === attemptsMax) return answer;
    await setTimeout(50);
  }
}

/** Cuts all nodes of all trees short. */
async function damageTrees(folder: string): Promise<void> {
  const store = new LmdbStore(folder);
  const keys = [...store.keys({ start: indexesPrefix, end: prefixEnd(indexesPrefix) })];
  const nodes = keys.filter((key) => key[7] === 't');
  assert.ok(nodes.length > 0);
  await store.write(nodes.map((key) => ({ key, value: asBytes('?') }))).committed;
  await store.close();
}

test('numbers of indexes tell their stores', () => {
  for (const slot of [0, 1, 15]) {
    assert.equal(slotOfNumber(firstNumberOf(slot)), slot);
    assert.equal(slotOfNumber(firstNumberOf(slot + 1) - 2), slot);
  }
  assert.equal(numberOf(asBytes(`x\0\0\0\0\0\x05t`)), 5);
});

test('what a broken copy of one store has left goes, and no folder of another', () => {
  const root = temporaryFolder();
  for (const name of ['1', '2', '3.copy', '1.1', '1.2', '1.3.copy', '2.7'])
    fs.mkdirSync(path.join(root, name));
  assert.equal(slotsIn(root), 3);
  assert.deepEqual(
    [0, 1, 2, 3].map((slot) => hasFolder(root, slot)),
    [true, true, true, false],
  );
  assert.equal(currentFolder(root), path.join(root, '2'));
  assert.deepEqual(fs.readdirSync(root).sort(), ['1.1', '1.2', '1.3.copy', '2', '2.7']);
  assert.equal(currentFolder(root, 1), path.join(root, '1.2'));
  assert.deepEqual(fs.readdirSync(root).sort(), ['1.2', '2', '2.7']);
  assert.equal(currentFolder(root, 3), path.join(root, '3.1'));
});
