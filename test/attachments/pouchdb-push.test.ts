/** PouchDB replicates to the server, attachments and conflicts included. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import httpAdapter from 'pouchdb-adapter-http';
import memoryAdapter from 'pouchdb-adapter-memory';
import PouchDB from 'pouchdb-core';
import replication from 'pouchdb-replication';
import { startServer, temporaryFolder } from '../support/server.js';
import { getBytes, noise } from './attachment-client.js';

interface Replicating {
  replicate: {
    to(target: unknown): Promise<{ ok: boolean; docs_written: number; doc_write_failures: number }>;
  };
}

PouchDB.plugin(httpAdapter);
PouchDB.plugin(memoryAdapter);
PouchDB.plugin(replication);
const client = await startServer({ dataDir: temporaryFolder() });

test('a PouchDB replicates its documents, conflicts and attachments to the server, and goes on where it stopped', async () => {
  const source = new PouchDB('pushed', { adapter: 'memory' });
  const target = new PouchDB(`${client.urlWithCredentials}/pushed`);
  const bytes = noise(70_000);
  for (let n = 0; n < 150; n++) await source.put({ _id: `doc${n}`, n });
  await source.put({
    _id: 'with',
    _attachments: {
      'a.bin': { content_type: 'application/octet-stream', data: bytes.toString('base64') },
      't.txt': { content_type: 'text/plain', data: Buffer.from('hello').toString('base64') },
    },
  });
  await source.bulkDocs([{ _id: 'doc0', _rev: '1-other', n: 'other' }], { new_edits: false });
  const { replicate } = source as unknown as Replicating;
  const first = await replicate.to(target);
  assert.deepEqual([first.ok, first.docs_written, first.doc_write_failures], [true, 152, 0]);
  assert.deepEqual((await getBytes(client, '/pushed/with/a.bin')).bytes, bytes);
  assert.equal((await getBytes(client, '/pushed/with/t.txt')).bytes.toString(), 'hello');
  const leaves = await client.get('/pushed/doc0?open_revs=all');
  assert.equal((leaves.body as unknown[]).length, 2);

  const { rev } = await source.put({ _id: 'later', n: 1 });
  const second = await replicate.to(target);
  assert.equal(second.docs_written, 1);
  assert.equal((await client.get('/pushed/later')).body._rev, rev);
  assert.equal((await replicate.to(target)).docs_written, 0);
});
