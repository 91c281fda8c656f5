import assert from 'node:assert/strict';
import test from 'node:test';
import { newDb, startServer } from '../support/server.js';
import { until } from './scene.js';

const client = await startServer();

test('a replication of documents that are not there has no changes, and leaves no note', async () => {
  const [source, target] = [await newDb(client), await newDb(client)];
  await client.put(`${source}/a`, {});
  const replicate = async (doc_ids: string[]): Promise<Record<string, unknown>> =>
    (await client.post('/_replicate', { source: source.slice(1), target: target.slice(1), doc_ids })).body;
  const nothing = await replicate(['nope']);
  assert.deepEqual([nothing['ok'], nothing['no_changes']], [true, true]);
  const one = await replicate(['a', 'nope']);
  assert.deepEqual([one['ok'], one['no_changes'], one['docs_written']], [true, undefined, 1]);
});

test('a selection that nothing matches has no changes, and leaves no note either', async () => {
  const [source, target] = [await newDb(client), await newDb(client)];
  await client.put(`${source}/a`, { n: 1 });
  await client.put(`${source}/_design/d`, { filters: { none: 'function () { return false; }' } });
  const ends = { source: source.slice(1), target: target.slice(1) };
  const replicate = async (body: Record<string, unknown>): Promise<Record<string, unknown>> =>
    (await client.post('/_replicate', { ...ends, ...body })).body;
  const nothing = { ok: true, no_changes: true };
  for (const selection of [{ selector: { n: 2 } }, { filter: 'd/none' }, { since_seq: 'now' }]) {
    assert.deepEqual(await replicate(selection), nothing, JSON.stringify(selection));
    assert.deepEqual(await replicate({ ...selection, use_checkpoints: false }), nothing);
  }
  for (const db of [source, target]) assert.deepEqual((await client.get(`${db}/_local_docs`)).body.rows, []);
  await client.put(`${source}/b`, { n: 2 });
  const one = await replicate({ selector: { n: 2 } });
  assert.deepEqual([one['no_changes'], (one['history'] as unknown[]).length], [undefined, 1]);
  await client.put(`${source}/c`, { n: 3 });
  const none = await replicate({ selector: { n: 2 } });
  assert.deepEqual([none['no_changes'], none['session_id']], [true, one['session_id']]);
});

test('one that goes on notes how far it has looked, also where nothing matches', async () => {
  const [source, target] = [await newDb(client), await newDb(client)];
  await client.put(`${source}/a`, { n: 1 });
  const ends = { source: source.slice(1), target: target.slice(1), selector: { n: 2 }, continuous: true };
  await client.post('/_replicate', ends);
  await until(
    () => client.get('/_active_tasks'),
    ({ body }) => JSON.stringify(body).includes('"source_seq":"1-'),
  );
  assert.equal((await client.post('/_replicate', { ...ends, cancel: true })).status, 200);
  for (const db of [source, target])
    assert.equal((await client.get(`${db}/_local_docs`)).body.rows.length, 1);
});

test('a filter whose name is no filter of the design document is missing', async () => {
  const [source, target] = [await newDb(client), await newDb(client)];
  await client.put(`${source}/_design/d`, { filters: { 'f/x': 'function () { return true; }' } });
  const ends = { source: source.slice(1), target: target.slice(1) };
  for (const filter of ['d/', '/', 'd/f/y', '/f']) {
    const answer = await client.post('/_replicate', { ...ends, filter });
    assert.deepEqual([answer.status, answer.body.error], [404, 'not_found'], filter);
  }
  assert.equal((await client.post('/_replicate', { ...ends, filter: 'd/f/x' })).body.ok, true);
});
