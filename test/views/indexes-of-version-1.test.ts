import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { readU48 } from '../../src/base/bytes.js';
import { IndexKeys } from '../../src/indexes/index-keys.js';
import { decodeIndexState } from '../../src/indexes/index-state.js';
import { createServer } from '../../src/server/create-server.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { assertOk } from '../support/expect.js';
import { HttpClient } from '../support/http-client.js';
import { temporaryFolder } from '../support/server.js';

/**
 * A folder whose indexes have a note for each document, written by a server that knew no other: 12 documents with their number
 * `n` and the first n modulo 4 letters as `tags`, a view that emits each tag with n, and an index of `n`.
 */
const stored = path.resolve('test/fixtures/indexes-v1');
const views = '/notes/_design/views/_view/tags';

interface Rows {
  rows: { id: string; key: string; value: number }[];
}

/** Indexes of another collation than that of this version of Node.js are begun anew. */
const icuOfFixture = '78.2';

test('indexes with a note for each document go on as they are', async (t) => {
  const dataDir = temporaryFolder();
  fs.cpSync(stored, dataDir, { recursive: true });
  // Git keeps no empty folders.
  fs.mkdirSync(path.join(dataDir, 'attachments'), { recursive: true });
  const before = await statesOf(dataDir);
  assert.deepEqual(
    before.map(({ hasNoteBlocks }) => hasNoteBlocks),
    [false, false],
  );
  const server = await createServer({
    dataDir,
    port: 0,
    admins: { admin: 'secret' },
    logLevel: 'none',
    config: { chttpd_auth: { iterations: '100' } },
  });
  try {
    const client = new HttpClient(server.url);
    await change(client, 'doc3', { n: 103, tags: ['z'] });
    await change(client, 'doc7', { tags: [] });
    await change(client, 'doc11', { _deleted: true });
    await change(client, 'doc5', { n: 5, tags: ['a', 'b'] });
    await change(client, 'new', { n: 50, tags: ['a'] });
    const { rows } = (await client.get(`${views}?reduce=false`)).body as Rows;
    const shown = rows.map(({ id, key, value }) => `${key} ${id} ${value}`);
    assert.deepEqual(shown, [
      ...['a doc1 1', 'a doc10 10', 'a doc2 2', 'a doc5 5', 'a doc6 6', 'a doc9 9', 'a new 50'],
      ...['b doc10 10', 'b doc2 2', 'b doc5 5', 'b doc6 6', 'z doc3 103'],
    ]);
    const found = await client.post('/notes/_find', { selector: { n: { $gt: 6 } }, fields: ['n'] });
    assertOk(found, 200);
    assert.deepEqual(
      (found.body['docs'] as { n: number }[]).map(({ n }) => n),
      [8, 9, 10, 50, 103],
    );
  } finally {
    await server.close();
  }
  if (process.versions.icu !== icuOfFixture) return t.skip(`they were written with ICU ${icuOfFixture}`);
  const after = await statesOf(dataDir);
  assert.deepEqual(
    after.map(({ number, hasNoteBlocks }) => ({ number, hasNoteBlocks })),
    before.map(({ number }) => ({ number, hasNoteBlocks: false })),
    'no index was begun anew',
  );
});

async function change(client: HttpClient, id: string, doc: object): Promise<void> {
  const { status, body } = await client.get(`/notes/${id}`);
  const rev = status === 200 ? { _rev: body['_rev'] as string } : {};
  assertOk(await client.put(`/notes/${id}`, { ...doc, ...rev }), '_deleted' in doc ? 200 : 201);
}

/** The indexes of a folder that is not in use. */
async function statesOf(dataDir: string): Promise<{ number: number; hasNoteBlocks: boolean }[]> {
  const store = new LmdbStore(path.join(dataDir, 'indexes', '1'));
  try {
    return [...store.entries({ start: 'i', end: 'j' } as never)].map(({ value }) => {
      const number = readU48(value, 0);
      return { number, ...decodeIndexState(store.get(new IndexKeys(number).state)!) };
    });
  } finally {
    await store.close();
  }
}
