import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { StoresAtRest } from '../../src/node/stores-at-rest.js';
import { createServer, type TuffetServer } from '../../src/server/create-server.js';
import { HttpClient } from '../support/http-client.js';
import { temporaryFolder } from '../support/server.js';

const start = (dataDir: string): Promise<TuffetServer> =>
  createServer({ dataDir, admins: { admin: 'secret' }, port: 0, logLevel: 'none' });

async function folderWith(database: string, doc: string): Promise<string> {
  const dataDir = path.join(temporaryFolder(), 'data');
  const server = await start(dataDir);
  const client = new HttpClient(server.url);
  assert.equal((await client.put(`/${database}`)).status, 201);
  assert.equal((await client.put(`/${database}/${doc}`, {})).status, 201);
  await server.close();
  return dataDir;
}

test('of stores with another history, documents of other databases with the same number are not taken', async () => {
  const [folder, otherFolder] = [await folderWith('one', 'a'), await folderWith('other', 'b')];
  const [own, other] = [StoresAtRest.open(folder), StoresAtRest.open(otherFolder)];
  assert.equal(own.catalogue.get('one')!.instance, other.catalogue.get('other')!.instance);
  await own.takeStream(0, other);
  await Promise.all([own.close(), other.close()]);
  const server = await start(folder);
  const { body } = await new HttpClient(server.url).get('/one/_all_docs');
  assert.deepEqual(body.rows, []);
  await server.close();
});
