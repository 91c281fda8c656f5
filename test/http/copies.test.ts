import assert from 'node:assert/strict';
import test from 'node:test';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

test('a write that asks for more copies than there are is accepted, with 202', async () => {
  const db = await newDb(client);
  const put = await client.put(`${db}/a?w=3`, {});
  assert.equal(put.status, 202);
  assert.equal((await client.post(`${db}?w=3`, { _id: 'b' })).status, 202);
  assert.equal((await client.send('PUT', `${db}/c/file?w=2`, { raw: 'x' })).status, 202);
  assert.equal((await client.delete(`${db}/a?rev=${put.body.rev}&w=3`)).status, 202);
  assert.equal((await client.send('COPY', `${db}/b?w=3`, { headers: { destination: 'e' } })).status, 201);
  for (const w of ['1', '0', '-1', 'x', ''])
    assert.equal((await client.put(`${db}/w${w}?w=${w}`, {})).status, 201);
});

test('in bulk, each row says that it was accepted; the body counts before the address', async () => {
  const db = await newDb(client);
  const inAddress = await client.post(`${db}/_bulk_docs?w=3`, { docs: [{ _id: 'a' }] });
  const inBody = await client.post(`${db}/_bulk_docs?w=1`, { docs: [{ _id: 'b' }, { _id: 'a' }], w: 3 });
  assert.deepEqual([inAddress.status, inBody.status], [202, 202]);
  assert.equal(inAddress.body[0].accepted, true);
  assert.equal(inBody.body[0].accepted, true);
  assert.deepEqual([inBody.body[1].error, inBody.body[1].accepted], ['conflict', undefined]);
  const plain = await client.post(`${db}/_bulk_docs?w=3`, { docs: [{ _id: 'c' }], w: 1 });
  assert.deepEqual([plain.status, plain.body[0].accepted], [201, undefined]);
});

test('a copy whose rev and If-Match disagree is refused', async () => {
  const db = await newDb(client);
  const { body: first } = await client.put(`${db}/a`, { n: 1 });
  await client.put(`${db}/a?rev=${first.rev}`, { n: 2 });
  const copy = (match: string): Promise<{ status: number }> => {
    const headers = { destination: 'b', 'if-match': match };
    return client.send('COPY', `${db}/a?rev=${first.rev}`, { headers });
  };
  assert.equal((await copy('1-abc')).status, 400);
  assert.equal((await copy(first.rev)).status, 201);
  assert.equal((await client.get(`${db}/b`)).body.n, 1);
});
