import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import nano from 'nano';
import httpAdapter from 'pouchdb-adapter-http';
import PouchDB from 'pouchdb-core';
import { revOf } from '../support/expect.js';
import { startServer } from '../support/server.js';

const client = await startServer();

describe('nano', () => {
  const server = nano(client.urlWithCredentials);

  test('makes a database, writes, reads, lists and destroys', async () => {
    assert.deepEqual(await server.db.create('by-nano'), { ok: true });
    const db = server.use<{ n: number }>('by-nano');
    const made = await db.insert({ n: 1 }, 'one');
    assert.match(made.rev, revOf(1));
    const one = await db.get('one');
    assert.equal(one.n, 1);
    const updated = await db.insert({ ...one, n: 2 });
    assert.match(updated.rev, revOf(2));
    await assert.rejects(db.insert({ n: 3 }, 'one'), { statusCode: 409 });
    const rows = await db.bulk({ docs: [{ _id: 'two', n: 2 }, { n: 3 }] });
    assert.equal(rows.length, 2);
    const listed = await db.list({ include_docs: true });
    assert.equal(listed.total_rows, 3);
    assert.ok(listed.rows.every(({ doc }) => typeof doc?.n === 'number'));
    const fetched = await db.fetch({ keys: ['one', 'none'] });
    assert.equal(fetched.rows.length, 2);
    assert.equal((await db.head('one')).etag, `"${updated.rev}"`);
    await db.destroy('one', updated.rev);
    await assert.rejects(db.get('one'), { statusCode: 404 });
    assert.equal((await db.info()).doc_count, 2);
    assert.ok((await server.db.list()).includes('by-nano'));
    assert.deepEqual(await server.db.destroy('by-nano'), { ok: true });
    await assert.rejects(server.db.get('by-nano'), { statusCode: 404 });
  });

  test('gets ids and server information', async () => {
    assert.equal((await server.uuids(3)).uuids.length, 3);
    assert.equal((await server.info()).couchdb, 'Welcome');
  });
});

describe('PouchDB over HTTP', () => {
  PouchDB.plugin(httpAdapter);
  const open = (): PouchDB => new PouchDB(`${client.urlWithCredentials}/by-pouch`);

  test('makes its database, puts, gets, writes in bulk, lists and removes', async () => {
    const db = open();
    assert.equal((await db.info()).doc_count, 0);
    const made = await db.put({ _id: 'one', n: 1 });
    assert.equal(made.ok, true);
    const one = await db.get('one');
    assert.equal(one.n, 1);
    await assert.rejects(db.put({ _id: 'one', n: 2 }), { status: 409, name: 'conflict' });
    const updated = await db.put({ ...one, n: 2 });
    assert.match(updated.rev, revOf(2));
    const posted = await db.post({ n: 9 });
    assert.equal(posted.ok, true);
    const rows = await db.bulkDocs([
      { _id: 'two', n: 2 },
      { _id: 'one', n: 3 },
    ]);
    assert.deepEqual([rows[0]?.ok, rows[1]?.name], [true, 'conflict']);
    const listed = await db.allDocs({ include_docs: true });
    assert.equal(listed.total_rows, 3);
    const keyed = await db.allDocs({ keys: ['two', 'none'] });
    assert.deepEqual(
      keyed.rows.map((row) => row.error ?? row.id),
      ['two', 'not_found'],
    );
    const got = await db.bulkGet({ docs: [{ id: 'one' }, { id: 'two' }] });
    assert.equal(got.results.length, 2);
    const removed = await db.remove('one', updated.rev);
    assert.match(removed.rev, revOf(3));
    await assert.rejects(db.get('one'), { status: 404, reason: 'deleted' });
    assert.equal((await db.info()).doc_count, 2);
    await db.destroy();
  });

  test('keeps local documents', async () => {
    const db = open();
    await db.put({ _id: '_local/mark', n: 1 });
    assert.equal((await db.get('_local/mark')).n, 1);
    await db.destroy();
  });
});
