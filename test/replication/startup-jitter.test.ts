import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newDb, startServer } from '../support/server.js';
import { addressOf, until } from './scene.js';

test('startup_jitter delays replications of documents by a random time, and no others', async (t) => {
  // The longest delay there can be.
  t.mock.method(Math, 'random', () => 0.999);
  const client = await startServer({ config: { replicator: { startup_jitter: '3600000' } } });
  const from = await newDb(client);
  await client.put(`${from}/a`, {});
  const source = addressOf(client, from);
  const [delayed, prompt] = [await newDb(client), await newDb(client)];
  await client.put('/_replicator/later', { source, target: addressOf(client, delayed) });
  const jobs = (count: number) =>
    until(
      () => client.get('/_scheduler/jobs'),
      ({ body }) => body.total_rows === count,
    );
  await jobs(1);
  const { status } = await client.post('/_replicate', { source, target: addressOf(client, prompt) });
  assert.equal(status, 200);
  assert.equal((await client.get(`${prompt}/a`)).status, 200);
  assert.equal((await client.get(`${delayed}/a`)).status, 404);
  const { body } = await client.get('/_replicator/later');
  await client.delete(`/_replicator/later?rev=${body._rev}`);
  await jobs(0);

  await client.put('/_node/_local/_config/replicator/startup_jitter', '10');
  await client.put('/_replicator/soon', { source, target: addressOf(client, delayed) });
  await until(
    () => client.get(`${delayed}/a`),
    (answer) => answer.status === 200,
  );
});
