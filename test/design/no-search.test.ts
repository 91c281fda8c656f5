import test from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

test('the newer text search says that it is not there', async () => {
  const db = await newDb(client);
  assertOk(await client.put(`${db}/_design/x`, { indexes: { y: { index: 'function (doc) {}' } } }), 201);
  for (const name of ['_nouveau']) {
    const path = `${db}/_design/x/${name}/y`;
    assertRefused(await client.get(`${path}?q=a:1`), 503, 'service_unavailable');
    assertRefused(await client.post(path, { q: 'a:1' }), 503, 'service_unavailable');
    assertRefused(await client.put(path, {}), 405, 'method_not_allowed');
  }
  assertRefused(await client.get(`${db}/_design/none/_search/y`), 404);
  for (const name of ['_nouveau_info'])
    assertRefused(await client.get(`${db}/_design/x/${name}/y`), 503, 'service_unavailable');
});
