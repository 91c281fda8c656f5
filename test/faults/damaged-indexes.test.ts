import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { asBytes, type Bytes } from '../../src/base/bytes.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { assertOk } from '../support/expect.js';
import type { Answer, HttpClient } from '../support/http-client.js';
import { copyOf, documentCount, filledFolder, withServer } from './data-folder.js';

/** Indexes can be made anew from the documents: what is wrong with them costs time, and never an answer for good. */
const filled = await filledFolder();
const indexFile = 'indexes/1/data.mdb';

async function assertRightView(client: HttpClient): Promise<void> {
  const reduced = await client.get('/d/_design/v/_view/v');
  assertOk(reduced, 200);
  assert.equal(reduced.body.rows[0].value, documentCount);
  const rows = await client.get('/d/_design/v/_view/v?reduce=false');
  assert.deepEqual(
    rows.body.rows.map(({ key }: { key: number }) => key),
    Array.from({ length: documentCount }, (_, n) => n),
  );
}

const damages: Record<string, (file: string) => void> = {
  'cut in half': (file) => fs.truncateSync(file, Math.floor(fs.statSync(file).size / 2)),
  noise: (file) => fs.writeFileSync(file, randomBytes(100_000)),
  'noise in its pages': (file) => {
    const bytes = fs.readFileSync(file);
    for (let at = 2 * 4096; at < bytes.length; at += 4096) bytes.fill('noise', at + 16, at + 100);
    fs.writeFileSync(file, bytes);
  },
};

for (const [damage, inflict] of Object.entries(damages)) {
  test(`a store of indexes that is ${damage} is built anew`, async () => {
    const folder = copyOf(filled);
    inflict(path.join(folder, indexFile));
    await withServer(folder, assertRightView);
  });
}

/** Changes records of the index store. */
async function changeRecords(
  folder: string,
  change: (key: Bytes, value: Bytes) => Bytes | undefined,
): Promise<number> {
  const store = new LmdbStore(path.join(folder, path.dirname(indexFile)));
  const entries = [...store.entries({ start: asBytes('x'), end: asBytes('y') })];
  const writes = entries
    .map(({ key, value }) => ({ key, value: change(key, value) }))
    .filter(({ value }, at) => value !== entries[at]!.value);
  await store.write(writes).flushed;
  await store.close();
  return writes.length;
}

/** Behind the number of the index, a key has the kind of its record: `s` for the state, `t` for the tree, `n` for notes of documents. */
const isOf = (key: string, kind: string): boolean => key[7] === kind;

const recordDamages: Record<string, (key: Bytes, value: Bytes) => Bytes | undefined> = {
  'a state that does not decode': (key, value) => (isOf(key, 's') ? value.slice(0, -1) : value),
  'nodes that do not decode': (key, value) => (isOf(key, 't') ? value.slice(0, -1) : value),
  'nodes of the wrong kind': (key, value) =>
    isOf(key, 't') ? asBytes((value.startsWith('\x01') ? '\x02' : '\x01') + value.slice(1)) : value,
  'nodes that are gone': (key, value) => (isOf(key, 't') ? undefined : value),
};

/** Asks again as long as the answer says so. */
async function untilBuilt(client: HttpClient): Promise<Answer> {
  for (const giveUp = Date.now() + 20_000; ; await setTimeout(20)) {
    const answer = await client.get('/d/_design/v/_view/v');
    if (answer.status === 200) return answer;
    assert.equal(answer.status, 503, answer.text);
    assert.match(answer.text, /built anew; try again/);
    assert.ok(Date.now() < giveUp, 'the index is not built anew');
  }
}

for (const [damage, change] of Object.entries(recordDamages)) {
  test(`an index with ${damage} is built anew`, async () => {
    const folder = copyOf(filled);
    assert.ok((await changeRecords(folder, change)) > 0);
    await withServer(folder, async (client) => {
      await untilBuilt(client);
      await assertRightView(client);
    });
  });
}

test('notes of documents that do not decode do not stop an update', async () => {
  const folder = copyOf(filled);
  assert.ok((await changeRecords(folder, (key, value) => (isOf(key, 'n') ? asBytes('\xff') : value))) > 0);
  await withServer(folder, async (client) => {
    const { body } = await client.get('/d/doc7');
    assertOk(await client.put('/d/doc7', { ...body, n: 7 }), 201);
    await untilBuilt(client);
    await assertRightView(client);
  });
});

test('an update that meets nodes that do not decode builds the index anew', async () => {
  const folder = copyOf(filled);
  await changeRecords(folder, recordDamages['nodes that do not decode']!);
  await withServer(folder, async (client) => {
    assertOk(await client.put('/d/other', { n: 0.5 }), 201);
    const answer = await untilBuilt(client);
    assert.equal(answer.body.rows[0].value, documentCount + 1);
  });
});
