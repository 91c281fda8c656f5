/** Values of any permitted size can be read again: the library below has a way of its own for those above 16 MB. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import { Catalogue } from '../../src/node/catalogue.js';
import { createServer } from '../../src/server/create-server.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { HttpClient } from '../support/http-client.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const config = { couchdb: { max_document_size: '60000000' } };
const client = await startServer({ dataDir: temporaryFolder(), config });
const textOf = (bytes: number): string => `{"x":"${'y'.repeat(bytes)}"}`;

describe('Above 16 MB', () => {
  for (const bytes of [20e6, 50e6]) {
    test(`a document of ${bytes / 1e6} MB is what it was`, async () => {
      const db = await newDb(client);
      assertOk(await client.send('PUT', `${db}/large`, { raw: textOf(bytes) }), 201);
      const { status, text } = await client.get(`${db}/large`);
      assert.equal(status, 200);
      assert.ok(text.endsWith(`,${textOf(bytes).slice(1)}\n`));
      const listing = await client.get(`${db}/_all_docs?include_docs=true`);
      assert.equal(listing.body.rows[0].doc.x.length, bytes);
    });
  }

  test('a local document can be read', async () => {
    const db = await newDb(client);
    assertOk(await client.send('PUT', `${db}/_local/large`, { raw: textOf(20e6) }), 201);
    assert.equal((await client.get(`${db}/_local/large`)).body.x.length, 20e6);
  });
});

describe('A security object', () => {
  test('of more than 1 MB is refused, and the one before it stays', async () => {
    const db = await newDb(client);
    const security = { admins: { names: ['dba'] }, x: 'y'.repeat(1e6) };
    assertOk(await client.put(`${db}/_security`, security), 200);
    const large = await client.put(`${db}/_security`, { ...security, x: 'y'.repeat(1.1e6) });
    assertRefused(large, 413, 'too_large');
    assert.deepEqual((await client.get(`${db}/_security`)).body, security);
  });

  test('of 20 MB that an earlier version has stored can be read and replaced', async (t) => {
    const dataDir = temporaryFolder();
    const start = async (): Promise<[HttpClient, () => Promise<void>]> => {
      const server = await createServer({ dataDir, port: 0, logLevel: 'none', admins: { admin: 'secret' } });
      return [new HttpClient(server.url), () => server.close()];
    };
    const [before, close] = await start();
    assertOk(await before.put('/hurt'), 201);
    assertOk(await before.put('/hurt/doc', {}), 201);
    await close();
    const store = new LmdbStore(path.join(dataDir, 'catalogue'));
    const catalogue = new Catalogue(store, () => undefined);
    await catalogue.set('hurt', catalogue.get('hurt')!.instance, { security: { x: 'y'.repeat(20e6) } });
    await store.close();
    const [after, closeAgain] = await start();
    t.after(closeAgain);
    assertOk(await after.get('/hurt/doc'), 200);
    assert.equal((await after.get('/hurt/_security')).body.x.length, 20e6);
    assertOk(await after.put('/hurt/_security', {}), 200);
    assert.deepEqual((await after.get('/hurt/_security')).body, {});
    assertOk(await after.delete('/hurt'), 200);
  });
});
