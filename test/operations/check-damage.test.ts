import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { Catalogue } from '../../src/node/catalogue.js';
import type { CheckFinding } from '../../src/operations/check/finding.js';
import { checkFolder } from '../../src/operations/check/folder-check.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import { encodeSplit } from '../../src/shard/split.js';
import { volumeBytesKey } from '../../src/shard/write-view.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { splitAll } from '../reshard/reshard.js';
import { copyOf, withServer } from '../faults/data-folder.js';
import { temporaryFolder } from '../support/server.js';

const filled = path.join(temporaryFolder(), 'data');
await withServer(filled, async (client) => {
  for (const db of ['plain', 'split']) {
    await client.put(`/${db}?q=2`);
    const docs = Array.from({ length: 100 }, (_, n) => ({ _id: `doc${n}`, text: 'x'.repeat(n * 30) }));
    await client.post(`/${db}/_bulk_docs`, { docs });
  }
  await splitAll(client, '/split');
});

const volume = (folder: string): string => path.join(folder, 'documents/0.1');

/** The records of the volume with their checksums, as bytes. */
async function asStored<T>(folder: string, use: (store: LmdbStore) => T | Promise<T>): Promise<T> {
  const store = new LmdbStore(volume(folder), undefined, undefined, { asStored: true });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function keysOf(folder: string, name: string): Promise<DatabaseKeys> {
  const catalogue = new Catalogue(new LmdbStore(path.join(folder, 'catalogue')), () => {});
  const { instance } = catalogue.get(name)!;
  await catalogue.close();
  return new DatabaseKeys(instance);
}

async function damage(folder: string, key: string): Promise<void> {
  await asStored(folder, async (store) => {
    const value = store.get(asBytes(key))!;
    await store.write([
      { key: asBytes(key), value: asBytes(`${value.slice(0, -1)}${value.endsWith('?') ? '!' : '?'}`) },
    ]).flushed;
  });
}

const contents = (folder: string): Promise<string> =>
  asStored(folder, (store) =>
    JSON.stringify([...store.entries({ start: asBytes('\0\0\0'), end: asBytes('\xff') })]),
  );

async function check(folder: string, repair: boolean): Promise<CheckFinding[]> {
  const found: CheckFinding[] = [];
  await checkFolder(folder, repair, { at: () => {}, found: (finding) => found.push(finding) });
  return found;
}

test('a damaged list of shards is reported, and nothing is repaired by guesses', async () => {
  const folder = copyOf(filled);
  const keys = await keysOf(folder, 'split');
  assert.deepEqual(await check(folder, false), []);
  await damage(folder, keys.shardMap);
  const before = await contents(folder);
  const found = await check(folder, true);
  assert.deepEqual(
    found.map(({ about, repaired }) => [about, repaired]),
    [['split, the list of its shards', false]],
  );
  assert.equal(await contents(folder), before);
});

test('a damaged copy that a split under way has made is reported and kept', async () => {
  const folder = copyOf(filled);
  const keys = await keysOf(folder, 'plain');
  const store = new LmdbStore(volume(folder));
  const [change] = store.entries({ ...keys.changesRange, limit: 1 });
  const copied = { until: 100, at: 100 };
  const split = {
    phase: 'copying' as const,
    source: 0,
    target: 2,
    middle: 2 ** 30,
    changes: copied,
    purges: copied,
  };
  await store.write([
    { key: keys.split, value: encodeSplit(split) },
    { key: keys.change(2, 1), value: change!.value },
  ]).flushed;
  await store.close();
  await damage(folder, keys.change(2, 1));
  const before = await contents(folder);
  const found = await check(folder, true);
  assert.equal(found.length, 1);
  assert.match(found[0]!.message, /The copy of a change is damaged: .* being split/);
  assert.equal(found[0]!.repaired, false);
  assert.equal(await contents(folder), before);
});

test('a damaged sum of stored bytes hinders neither writes nor listings, and is repaired', async () => {
  const folder = copyOf(filled);
  const before = await contents(folder);
  await damage(folder, volumeBytesKey);
  await withServer(folder, async (client) => {
    assert.equal((await client.get('/plain')).status, 200);
    const { status, body } = await client.put('/plain/new', { more: true });
    assert.equal(status, 201);
    assert.equal((await client.delete(`/plain/new?rev=${body.rev}`)).status, 200);
  });
  const [finding, ...others] = await check(folder, true);
  assert.deepEqual(others, []);
  assert.match(finding!.message, /sum of what its shards have stored is damaged/);
  assert.equal(finding!.repaired, true);
  assert.deepEqual(await check(folder, false), []);
  assert.notEqual(await contents(folder), before);
});

test('a server that starts leaves folders of other names beside its volumes alone', async () => {
  const folder = temporaryFolder();
  fs.cpSync(path.resolve('test/fixtures/data-v1'), folder, { recursive: true });
  const other = path.join(folder, 'documents', 'kept-for-later');
  fs.cpSync(volume(folder), other, { recursive: true });
  const before = fs.readFileSync(path.join(other, 'data.mdb'));
  await withServer(folder, () => Promise.resolve());
  assert.ok(fs.readFileSync(path.join(other, 'data.mdb')).equals(before));
});
