/** PouchDB follows the server's databases, and replicates from them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import httpAdapter from 'pouchdb-adapter-http';
import memoryAdapter from 'pouchdb-adapter-memory';
import PouchDB from 'pouchdb-core';
import replication from 'pouchdb-replication';
import { createServer, type TuffetServer } from '../../src/server/create-server.js';
import { noise } from '../attachments/attachment-client.js';
import { HttpClient } from '../support/http-client.js';
import { startServer, temporaryFolder } from '../support/server.js';

PouchDB.plugin(httpAdapter);
PouchDB.plugin(memoryAdapter);
PouchDB.plugin(replication);

interface Change {
  id: string;
  seq: string;
  deleted?: boolean;
  doc?: Record<string, unknown>;
}

interface Following {
  on(event: 'change', listener: (change: Change) => void): Following;
  on(event: 'error', listener: (error: unknown) => void): Following;
  cancel(): void;
}

interface Replicated {
  ok: boolean;
  docs_written: number;
  doc_write_failures: number;
}

interface Replicating {
  changes(options: Record<string, unknown>): Following;
  replicate: {
    from(
      source: unknown,
      options?: Record<string, unknown>,
    ): Promise<Replicated> & {
      on(event: string, listener: (info: unknown) => void): unknown;
      cancel(): void;
    };
  };
}

const open = (name: string, options?: Record<string, unknown>): PouchDB & Replicating =>
  new PouchDB(name, options) as PouchDB & Replicating;

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`${what}: not in time`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a PouchDB follows a database live, across a restart of the server', async () => {
  const dataDir = temporaryFolder();
  const start = (port: number): Promise<TuffetServer> =>
    createServer({
      dataDir,
      admins: { admin: 'secret' },
      port,
      logLevel: 'none',
      config: { chttpd_auth: { iterations: '100' } },
    });
  let server = await start(0);
  const client = new HttpClient(server.url);
  await client.put('/followed');
  await client.put('/followed/before', {});
  const db = open(`${client.urlWithCredentials}/followed`);
  const seen: string[] = [];
  let last: string | undefined;
  const follow = (since: string | number): Following => {
    const changes = db.changes({ live: true, since, include_docs: true, heartbeat: 1_000 });
    changes.on('change', ({ id, seq, doc }) => {
      assert.equal(doc!['_id'], id);
      seen.push(id);
      last = seq;
    });
    // As an application does: when the connection is lost, it goes on from where it was.
    changes.on('error', () => setTimeout(() => (following = follow(last!)), 100));
    return changes;
  };
  let following = follow(0);
  await until('the first', () => seen.includes('before'));
  await client.put('/followed/during', {});
  await until('the second', () => seen.includes('during'));
  await server.close();
  server = await start(client.port);
  await client.put('/followed/after', {});
  await until('the third', () => seen.includes('after'));
  following.cancel();
  assert.deepEqual(seen, ['before', 'during', 'after']);
  await server.close();
});

const client = await startServer();

test('a PouchDB replicates documents, conflicts, deletions and attachments from the server, and goes on where it stopped', async () => {
  await client.put('/pulled');
  const docs = Array.from({ length: 300 }, (_, n) => ({ _id: `doc${n}`, n }));
  await client.post('/pulled/_bulk_docs', { docs });
  await client.post('/pulled/_bulk_docs', {
    docs: [{ _id: 'doc0', _rev: '1-other', n: 'other' }],
    new_edits: false,
  });
  const { body: gone } = await client.get('/pulled/doc1');
  await client.delete(`/pulled/doc1?rev=${gone._rev}`);
  const bytes = noise(70_000);
  const attachments = {
    'a.bin': { content_type: 'application/octet-stream', data: bytes.toString('base64') },
    't.txt': { content_type: 'text/plain', data: Buffer.from('hello').toString('base64') },
  };
  await client.put('/pulled/with', { _attachments: attachments });
  const target = open('pulled', { adapter: 'memory' });
  const source = `${client.urlWithCredentials}/pulled`;
  const first = await target.replicate.from(source, { batch_size: 50 });
  assert.deepEqual([first.ok, first.docs_written, first.doc_write_failures], [true, 302, 0]);
  assert.equal((await target.info()).doc_count, 300);
  const with_ = await target.get('with', { attachments: true });
  assert.deepEqual(
    Object.fromEntries(
      Object.entries(with_['_attachments'] as Record<string, { data: string }>).map(([name, { data }]) => [
        name,
        data,
      ]),
    ),
    { 'a.bin': attachments['a.bin'].data, 't.txt': attachments['t.txt'].data },
  );
  const doc0 = await target.get('doc0', { conflicts: true });
  assert.equal((doc0['_conflicts'] as string[]).length, 1);
  await assert.rejects(target.get('doc1'));

  await client.put('/pulled/later', { n: 1 });
  assert.equal((await target.replicate.from(source)).docs_written, 1);
  assert.equal((await target.replicate.from(source)).docs_written, 0);
  const some = open('some', { adapter: 'memory' });
  assert.equal((await some.replicate.from(source, { doc_ids: ['doc5', 'doc6', 'none'] })).docs_written, 2);
  const chosen = open('chosen', { adapter: 'memory' });
  assert.equal(
    (await chosen.replicate.from(source, { selector: { n: { $lt: 10, $gt: 4 } } })).docs_written,
    5,
  );
});

test('a PouchDB that replicates live gets each write as it is made', async () => {
  await client.put('/live');
  const target = open('live', { adapter: 'memory' });
  const pull = target.replicate.from(`${client.urlWithCredentials}/live`, { live: true, retry: true });
  for (let n = 0; n < 5; n++) {
    await client.put(`/live/doc${n}`, { n });
    for (let tries = 0; ; tries++) {
      const found = await target.get(`doc${n}`).catch(() => undefined);
      if (found !== undefined) break;
      assert.ok(tries < 500, `doc${n} did not come`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  pull.cancel();
  await pull;
});
