import assert from 'node:assert/strict';
import test from 'node:test';
import { newDb, startServer } from '../support/server.js';

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
