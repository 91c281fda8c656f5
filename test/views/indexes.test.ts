import assert from 'node:assert/strict';
import fs from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import path from 'node:path';
import { after, test } from 'node:test';
import { createServer, type TuffetServer } from '../../src/server/create-server.js';
import { HttpClient } from '../support/http-client.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const byN = { map: 'function (doc) { emit(doc.n, null) }' };
const byText = { map: 'function (doc) { emit(doc.text, 1) }', reduce: '_sum' };

const docsOf = (count: number): object[] =>
  Array.from({ length: count }, (_, n) => ({ _id: `d${n}`, n, text: `t${n % 10}` }));

const open: TuffetServer[] = [];
after(() => Promise.all(open.map((server) => server.close())));

async function serverOn(dataDir: string): Promise<{ server: TuffetServer; client: HttpClient }> {
  const config = { chttpd_auth: { iterations: '100' } };
  const server = await createServer({
    dataDir,
    admins: { admin: 'secret' },
    port: 0,
    logLevel: 'none',
    config,
  });
  open.push(server);
  return { server, client: new HttpClient(server.url) };
}

test('an index is there after a restart, without being filled again', async () => {
  const dataDir = temporaryFolder();
  const first = await serverOn(dataDir);
  const db = await newDb(first.client);
  await first.client.put(`${db}/_design/d`, { views: { v: byN } });
  await first.client.post(`${db}/_bulk_docs`, { docs: docsOf(100) });
  await first.client.get(`${db}/_design/d/_view/v`);
  await first.server.close();
  const second = await serverOn(dataDir);
  const { body } = await second.client.get(`${db}/_design/d/_view/v?update=false`);
  assert.equal(body.total_rows, 100);
});

test('a view that is added or changed leaves the indexes of its neighbours alone', async () => {
  const client = await startServer({ dataDir: temporaryFolder() });
  const db = await newDb(client);
  const saved = await client.put(`${db}/_design/d`, { views: { n: byN } });
  await client.post(`${db}/_bulk_docs`, { docs: docsOf(50) });
  await client.get(`${db}/_design/d/_view/n`);
  await client.put(`${db}/_design/d`, { _rev: saved.body.rev, views: { n: byN, text: byText } });
  const { body } = await client.get(`${db}/_design/d/_view/n?update=false`);
  assert.equal(body.total_rows, 50);
  const added = await client.get(`${db}/_design/d/_view/text?update=false`);
  assert.deepEqual(added.body.rows, []);
  const filled = await client.get(`${db}/_design/d/_view/text`);
  assert.deepEqual(filled.body.rows, [{ key: null, value: 50 }]);
});

test('_view_cleanup removes indexes that no design document needs, and keeps the others', async () => {
  const client = await startServer({ dataDir: temporaryFolder() });
  const db = await newDb(client);
  const saved = await client.put(`${db}/_design/d`, { views: { n: byN, text: byText } });
  await client.post(`${db}/_bulk_docs`, { docs: docsOf(50) });
  await client.get(`${db}/_design/d/_view/n`);
  const changed = await client.put(`${db}/_design/d`, { _rev: saved.body.rev, views: { text: byText } });
  assert.equal((await client.post(`${db}/_view_cleanup`, {})).status, 202);
  await client.put(`${db}/_design/d`, { _rev: changed.body.rev, views: { n: byN, text: byText } });
  await until(async () => (await client.get(`${db}/_design/d/_view/n?update=false`)).body.total_rows === 0);
  const kept = await client.get(`${db}/_design/d/_view/text?update=false`);
  assert.deepEqual(kept.body.rows, [{ key: null, value: 50 }]);
});

test('an answer whose index is removed meanwhile does not end as if it were complete', async () => {
  const client = await startServer({ dataDir: temporaryFolder() });
  const db = await newDb(client);
  const views = { v: { map: 'function (doc) { emit(doc.n, doc.text) }' } };
  const saved = await client.put(`${db}/_design/d`, { views });
  const text = 'x'.repeat(100_000);
  for (let part = 0; part < 3; part++)
    await client.post(`${db}/_bulk_docs`, { docs: Array.from({ length: 40 }, (_, n) => ({ n, text })) });
  const totalOf = async (update: string): Promise<number> =>
    (await client.get(`${db}/_design/d/_view/v?limit=0&update=${update}`)).body.total_rows as number;
  await until(async () => (await totalOf('lazy')) === 120);
  const answer = await new Promise<IncomingMessage>((resolve) => {
    http.get(`${client.urlWithCredentials}${db}/_design/d/_view/v`, { agent: false }, resolve);
  });
  const changed = await client.put(`${db}/_design/d`, { _rev: saved.body.rev });
  await client.post(`${db}/_view_cleanup`, {});
  await client.put(`${db}/_design/d`, { _rev: changed.body.rev, views });
  await until(async () => (await totalOf('false')) === 0);
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const end = Buffer.concat(chunks).subarray(-200).toString();
  assert.match(end, /\}\n\{"error":"service_unavailable","reason":"The index was removed.*\n$/);
});

test('members with names in any script are indexed', async () => {
  const { client } = await serverOn(temporaryFolder());
  const db = await newDb(client);
  await client.put(`${db}/x`, { größe: 7, gr: 1, 价格: 2, 'a b': 3 });
  const expected = {
    'doc.größe': 7,
    'doc.gr\\u00f6\\u00dfe': 7,
    'doc["größe"]': 7,
    'doc.价格': 2,
    'doc["a b"]': 3,
  };
  for (const [n, [place, key]] of Object.entries(expected).entries()) {
    const map = `function (doc) { if (${place}) emit(${place}, doc.gr) }`;
    await client.put(`${db}/_design/d${n}`, { views: { v: { map } } });
    const { body } = await client.get(`${db}/_design/d${n}/_view/v`);
    assert.deepEqual(body.rows, [{ id: 'x', key, value: 1 }], place);
  }
});

test('purged documents leave the index', async () => {
  const client = await startServer({ dataDir: temporaryFolder() });
  const db = await newDb(client);
  await client.put(`${db}/_design/d`, { views: { v: byN } });
  await client.post(`${db}/_bulk_docs`, { docs: docsOf(20) });
  await client.get(`${db}/_design/d/_view/v`);
  const { body: doc } = await client.get(`${db}/d7`);
  await client.post(`${db}/_purge`, { d7: [doc._rev] });
  const { body } = await client.get(`${db}/_design/d/_view/v`);
  assert.deepEqual((body.rows as { id: string }[]).map(({ id }) => id).includes('d7'), false);
  assert.equal(body.total_rows, 19);
});

test('an index that has missed purges which are forgotten is filled anew', async () => {
  const client = await startServer({ dataDir: temporaryFolder() });
  const db = await newDb(client, '?q=1');
  await client.put(`${db}/_design/d`, { views: { v: byN } });
  await client.post(`${db}/_bulk_docs`, { docs: docsOf(20) });
  await client.get(`${db}/_design/d/_view/v`);
  await client.put(`${db}/_purged_infos_limit`, 1);
  for (const id of ['d1', 'd2', 'd3']) {
    const { body: doc } = await client.get(`${db}/${id}`);
    await client.post(`${db}/_purge`, { [id]: [doc._rev] });
  }
  await client.post(`${db}/_compact`, {});
  await until(async () => !(await client.get(db)).body.compact_running);
  const { body } = await client.get(`${db}/_design/d/_view/v`);
  assert.equal(body.total_rows, 17);
});

test('a database that is deleted and made anew has none of the old rows', async () => {
  const client = await startServer({ dataDir: temporaryFolder() });
  const db = await newDb(client);
  await client.put(`${db}/_design/d`, { views: { v: byN } });
  await client.post(`${db}/_bulk_docs`, { docs: docsOf(20) });
  await client.get(`${db}/_design/d/_view/v`);
  await client.delete(db);
  await client.put(db);
  await client.put(`${db}/_design/d`, { views: { v: byN } });
  const { body } = await client.get(`${db}/_design/d/_view/v`);
  assert.deepEqual(body, { total_rows: 0, offset: 0, rows: [] });
});

test('disk space of removed indexes comes back', async () => {
  const dataDir = temporaryFolder();
  const client = await startServer({ dataDir });
  const db = await newDb(client);
  const map =
    'function (doc) { for (var i = 0; i < 5; i++) emit([doc.n, i], "some text that takes room".repeat(8)) }';
  const saved = await client.put(`${db}/_design/d`, { views: { v: { map } } });
  for (let at = 0; at < 12_000; at += 2_000) {
    await client.post(`${db}/_bulk_docs`, { docs: Array.from({ length: 2_000 }, (_, n) => ({ n: at + n })) });
  }
  await client.get(`${db}/_design/d/_view/v?limit=1`);
  const before = sizeOf(path.join(dataDir, 'indexes'));
  await client.put(`${db}/_design/d`, { _rev: saved.body.rev, views: { n: byN } });
  await client.get(`${db}/_design/d/_view/n?limit=1`);
  await client.post(`${db}/_view_cleanup`, {});
  await until(async () => {
    await client.post(`${db}/_compact/d`, {});
    return sizeOf(path.join(dataDir, 'indexes')) < before / 2;
  });
  const { body } = await client.get(`${db}/_design/d/_view/n?limit=1`);
  assert.equal(body.total_rows, 12_000);
  await client.put(`${db}/more`, { n: -1 });
  assert.equal((await client.get(`${db}/_design/d/_view/n?limit=1`)).body.rows[0].id, 'more');
});

test('_info tells of the index, with every member that the interface lists', async () => {
  const client = await startServer({ dataDir: temporaryFolder() });
  const db = await newDb(client);
  await client.put(`${db}/_design/d`, { views: { v: byN } });
  await client.post(`${db}/_bulk_docs`, { docs: docsOf(20) });
  await client.get(`${db}/_design/d/_view/v`);
  const { status, body } = await client.get(`${db}/_design/d/_info`);
  assert.equal(status, 200);
  assert.equal(body.name, 'd');
  const types = {
    compact_running: 'boolean',
    data_size: 'number',
    disk_size: 'number',
    language: 'string',
    purge_seq: 'number',
    signature: 'string',
    update_seq: 'number',
    updater_running: 'boolean',
    waiting_clients: 'number',
    waiting_commit: 'boolean',
  };
  for (const [name, type] of Object.entries(types)) assert.equal(typeof body.view_index[name], type, name);
  assert.match(body.view_index.signature, /^[0-9a-f]{32}$/);
  assert.equal(body.view_index.updates_pending.total, 0);
  assert.ok(body.view_index.data_size > 0);
  assert.equal(body.view_index.sizes.active, body.view_index.data_size);
  assert.equal(body.view_index.sizes.file, body.view_index.disk_size);
});

test('_info: the file is larger than what is in it, and smaller once it was compacted', async () => {
  const client = await startServer({ dataDir: temporaryFolder() });
  const db = await newDb(client);
  await client.put(`${db}/_design/d`, { views: { v: byN } });
  const sizes = async (): Promise<{ file: number; active: number }> =>
    (await client.get(`${db}/_design/d/_info`)).body.view_index.sizes;
  let docs: object[] = docsOf(1000);
  for (let round = 0; round < 3; round++) {
    const { body } = await client.post(`${db}/_bulk_docs`, { docs });
    docs = docs.map((doc, at) => ({ ...doc, _id: body[at].id, _rev: body[at].rev, n: at * 7 + round }));
    await client.get(`${db}/_design/d/_view/v?limit=1`);
  }
  const before = await sizes();
  assert.ok(before.active > 0 && before.active < before.file, JSON.stringify(before));
  await until(async () => {
    await client.post(`${db}/_compact/d`, {});
    return (await sizes()).file < before.file;
  });
  const after = await sizes();
  assert.ok(after.active < after.file, JSON.stringify(after));
});

test('the filling of an index shows among the active tasks', async () => {
  const client = await startServer({ dataDir: temporaryFolder() });
  const db = await newDb(client);
  const map = 'function (doc) { for (var i = 0; i < 4000; i++); emit(doc.n, null) }';
  await client.put(`${db}/_design/slow`, { views: { v: { map } } });
  await client.post(`${db}/_bulk_docs`, { docs: docsOf(4_000) });
  const answer = client.get(`${db}/_design/slow/_view/v?limit=0`);
  let seen: Record<string, unknown> | undefined;
  await until(async () => {
    const { body } = await client.get('/_active_tasks');
    seen = (body as Record<string, unknown>[]).find(({ type }) => type === 'indexer');
    return seen !== undefined;
  });
  assert.equal(seen!['design_document'], '_design/slow');
  assert.equal(seen!['database'], db.slice(1));
  for (const member of ['changes_done', 'total_changes', 'progress', 'started_on', 'updated_on'])
    assert.equal(typeof seen![member], 'number', member);
  await answer;
  const { body } = await client.get('/_active_tasks');
  assert.deepEqual(body, []);
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > end) assert.fail('it did not come about in time');
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

function sizeOf(folder: string): number {
  let bytes = 0;
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile())
      bytes += fs.statSync(path.join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}
