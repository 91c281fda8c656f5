import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HttpClient } from '../support/http-client.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const tuffet = { script_memory_bytes: '16777216' };
/** One whose functions have too little memory, on a thread for indexes, and one whose functions have too little time. */
const short = {
  ofMemory: await startServer({
    dataDir: temporaryFolder(),
    config: { couchdb: { os_process_timeout: '60000' }, tuffet },
  }),
  ofTime: await startServer({ config: { couchdb: { os_process_timeout: '400' } } }),
};

const endlessEmits = 'function (doc) { if (doc.hostile) for (;;) emit(1, [1, 2, 3]); emit(doc._id, null); }';
const endlessLoop = 'function (doc) { if (doc.hostile) for (;;); emit(doc._id, null); }';
const harmless = { map: 'function (doc) { emit(doc._id, null); }', reduce: '_count' };

interface Row {
  id: string;
}

async function withDocs(client: HttpClient, map: string, hostile: number): Promise<string> {
  // Each group of a database counts the documents that exceed limits.
  const db = await newDb(client, '?q=1');
  await client.put(`${db}/_design/d`, { views: { slow: { map }, other: harmless } });
  const docs = Array.from({ length: 20 }, (_, n) => ({
    _id: `d${String(n).padStart(2, '0')}`,
    hostile: n < hostile,
  }));
  await client.post(`${db}/_bulk_docs`, { docs });
  return db;
}

/** Queries the view until it says that its index is stopped; gives the number of queries. */
async function stop(client: HttpClient, db: string): Promise<number> {
  for (let queries = 1; ; queries++) {
    const { status, body } = await client.get(`${db}/_design/d/_view/slow`);
    assert.equal(status, 500);
    const { error, reason } = body as { error: string; reason: string };
    assert.equal(error, 'os_process_error');
    if (reason.includes('is stopped until the design document changes')) return queries;
    assert.ok(queries < 4, reason);
  }
}

describe('a map function that exceeds its limits', () => {
  const client = short.ofMemory;

  it('is not asked again after three documents that need too much memory', async () => {
    const db = await withDocs(client, endlessEmits, 20);
    assert.equal(await stop(client, db), 1);
    const before = process.cpuUsage();
    for (let i = 0; i < 20; i++) assert.equal((await client.get(`${db}/_design/d/_view/slow`)).status, 500);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 1_500_000, `${user + system} µs`);
    const { body } = await client.get(`${db}/_design/d/_view/other`);
    assert.deepEqual(body, { rows: [{ key: null, value: 20 }] });
  });

  it('is not asked again after it took too long three times, and does not fail its neighbours', async () => {
    const client = short.ofTime;
    const db = await withDocs(client, endlessLoop, 20);
    const { body } = await client.get(`${db}/_design/d/_view/other`);
    assert.deepEqual(body, { rows: [{ key: null, value: 20 }] });
    assert.ok((await stop(client, db)) <= 3);
    await client.put(`${db}/new`, {});
    const { body: later } = await client.get(`${db}/_design/d/_view/other`);
    assert.deepEqual(later, { rows: [{ key: null, value: 21 }] });
  });

  it('skips one or two documents that need too much memory', async () => {
    const db = await withDocs(client, endlessEmits, 2);
    const { status, body } = await client.get(`${db}/_design/d/_view/slow`);
    assert.equal(status, 200);
    const { rows } = body as { rows: Row[] };
    assert.deepEqual(rows.map(({ id }) => id), Array.from({ length: 18 }, (_, n) => `d${String(n + 2).padStart(2, '0')}`)); // prettier-ignore
  });

  it('is asked again when the design document has changed, or functions are started afresh', async () => {
    const db = await withDocs(client, endlessEmits, 3);
    await stop(client, db);
    await client.post('/_reload_query_servers', {});
    const all = await client.post(`${db}/_all_docs`, { keys: ['d00', 'd01', 'd02'] });
    for (const { id, value } of (all.body as { rows: { id: string; value: { rev: string } }[] }).rows)
      await client.put(`${db}/${id}`, { _rev: value.rev, hostile: false });
    const { body } = await client.get(`${db}/_design/d/_view/slow`);
    assert.equal((body as { rows: Row[] }).rows.length, 20);
  });
});

describe('a validation function that needs too much memory', () => {
  it('costs no more than three documents of a request', async () => {
    const client = short.ofMemory;
    const db = await newDb(client);
    await client.put(`${db}/_design/v`, {
      validate_doc_update:
        'function (doc) { if (!doc._deleted) { var all = []; for (;;) all.push([1, 2, 3]); } }',
    });
    const docs = Array.from({ length: 200 }, (_, n) => ({ _id: `d${n}` }));
    const { body } = await client.post(`${db}/_bulk_docs`, { docs });
    const results = body as { error?: string }[];
    assert.equal(results.length, 200);
    assert.ok(results.every(({ error }) => error === 'os_process_error'));
  });
});
