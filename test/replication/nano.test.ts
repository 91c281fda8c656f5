/** CouchDB's client for Node replicates as it does with CouchDB. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import nano from 'nano';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { addressOf, until } from './scene.js';

const client = await startServer({ dataDir: temporaryFolder() });
const server = nano(client.urlWithCredentials);
/** Its types have an argument that its functions don't. */
const replication = server.db.replication as unknown as Record<
  'enable' | 'query' | 'disable',
  (...given: unknown[]) => Promise<unknown>
>;

test('nano replicates once, and continuously until it cancels', async () => {
  const [from, to] = [await newDb(client), await newDb(client)];
  await client.put(`${from}/a`, {});
  const done = (await server.db.replicate(from.slice(1), to.slice(1))) as {
    ok: boolean;
    history: { docs_written: number }[];
  };
  assert.deepEqual([done.ok, done.history[0]!.docs_written], [true, 1]);
  const made = `made-by-nano`;
  const options = { create_target: true, continuous: true };
  const begun = await server.db.replicate(addressOf(client, from), addressOf(client, `/${made}`), options);
  assert.equal(begun.ok, true);
  await until(
    () => client.get(`/${made}/a`),
    ({ status }) => status === 200,
  );
  const cancel = { ...options, cancel: true };
  const ended = await server.db.replicate(addressOf(client, from), addressOf(client, `/${made}`), cancel);
  assert.equal(ended.ok, true);
  assert.deepEqual((await client.get('/_scheduler/jobs')).body.jobs, []);
});

test('nano enables, queries and disables a replication', async () => {
  const [from, to] = [await newDb(client), await newDb(client)];
  await client.put(`${from}/a`, {});
  const enabled = (await replication.enable(addressOf(client, from), addressOf(client, to), {
    continuous: true,
  })) as { ok: boolean; id: string };
  assert.equal(enabled.ok, true);
  await until(
    () => client.get(`${to}/a`),
    ({ status }) => status === 200,
  );
  const found = (await replication.query(enabled.id)) as { _rev: string; owner: string };
  assert.equal(found.owner, 'admin');
  assert.equal(((await replication.disable(enabled.id, found._rev)) as { ok: boolean }).ok, true);
  await until(
    () => client.get(`/_scheduler/docs/_replicator/${enabled.id}`),
    ({ status }) => status === 404,
  );
});
