/** Feeds that go on: when they tell of what, and how they end. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createServer } from '../../src/server/create-server.js';
import { FeedClient, type FeedLine } from '../support/feed-client.js';
import { HttpClient } from '../support/http-client.js';
import { keptBytes } from '../support/kept-bytes.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function put(db: string, ...ids: string[]): Promise<void> {
  for (const id of ids) assert.equal((await client.put(`${db}/${id}`, {})).status, 201);
}

describe('a continuous feed', () => {
  test('tells of what was there, and then of each write at once', async () => {
    const db = await newDb(client);
    await put(db, 'a', 'b');
    const feed = new FeedClient(client, `${db}/_changes?feed=continuous`);
    await feed.until('what was there', () => feed.rows.length === 2);
    for (const id of ['c', 'd', 'e']) {
      const started = performance.now();
      await put(db, id);
      await feed.until(`${id} is told`, () => feed.ids.includes(id));
      assert.ok(performance.now() - started < 2_000);
    }
    assert.deepEqual(feed.ids.slice(2), ['c', 'd', 'e']);
    feed.stop();
  });

  test('goes on from any of its rows', async () => {
    const db = await newDb(client, '?q=1');
    await put(db, 'a', 'b', 'c');
    const first = new FeedClient(client, `${db}/_changes?feed=continuous&since=now`);
    await first.begun();
    await put(db, 'd', 'e', 'f');
    await first.until('three rows', () => first.rows.length === 3);
    first.stop();
    const seq = encodeURIComponent(first.rows[0]!.seq!);
    const second = new FeedClient(client, `${db}/_changes?feed=continuous&since=${seq}`);
    await second.until('two rows', () => second.rows.length === 2);
    assert.deepEqual(second.ids, ['e', 'f']);
    second.stop();
  });

  test('ends after the time without changes, with the place to go on from', async () => {
    const db = await newDb(client);
    await put(db, 'a');
    const started = performance.now();
    const feed = await new FeedClient(client, `${db}/_changes?feed=continuous&timeout=300`).ended();
    assert.ok(performance.now() - started >= 290);
    assert.equal(feed.complete, true);
    const [row, end] = feed.lines as [FeedLine, FeedLine];
    assert.equal(row.id, 'a');
    assert.deepEqual(end, { last_seq: row.seq, pending: 0 });
  });

  test('begins that time anew with every change', async () => {
    const db = await newDb(client);
    const feed = new FeedClient(client, `${db}/_changes?feed=continuous&timeout=2000`);
    await feed.begun();
    for (const id of ['a', 'b', 'c', 'd']) {
      await pause(800);
      await put(db, id);
    }
    assert.equal(feed.isOpen, true);
    await feed.ended();
    assert.deepEqual(feed.ids, ['a', 'b', 'c', 'd']);
  });

  test('gives a sign of life where there is nothing to tell, and does not end', async () => {
    const db = await newDb(client);
    const feed = new FeedClient(client, `${db}/_changes?feed=continuous&heartbeat=100&timeout=200`);
    await feed.until('heartbeats', () => feed.text === '\n\n\n\n\n');
    assert.equal(feed.isOpen, true);
    feed.stop();
  });

  test('ends with its limit', async () => {
    const db = await newDb(client);
    await put(db, 'a');
    const feed = new FeedClient(client, `${db}/_changes?feed=continuous&limit=3`);
    await feed.begun();
    await put(db, 'b', 'c', 'd');
    await feed.ended();
    assert.deepEqual(feed.ids, ['a', 'b', 'c']);
    assert.equal(feed.lines.at(-1)!.last_seq, feed.rows.at(-1)!.seq);
  });

  test('shows documents, conflicts, deletions and attachments as they are', async () => {
    const db = await newDb(client);
    const query = 'feed=continuous&include_docs=true&conflicts=true&style=all_docs&attachments=true';
    const feed = new FeedClient(client, `${db}/_changes?${query}`);
    await feed.begun();
    await client.post(`${db}/_bulk_docs`, {
      docs: [
        { _id: 'x', _rev: '1-a', n: 1 },
        { _id: 'x', _rev: '1-b', n: 2 },
      ],
      new_edits: false,
    });
    await feed.until('x', () => feed.rows.length === 1);
    const data = Buffer.alloc(300_000, 'abc').toString('base64');
    const { body: saved } = await client.put(`${db}/y`, { _attachments: { f: { data } } });
    await feed.until('y', () => feed.rows.length === 2);
    await client.delete(`${db}/y?rev=${saved.rev}`);
    await feed.until('the deletion', () => feed.rows.length === 3);
    const [x, y, gone] = feed.rows as [FeedLine, FeedLine, FeedLine];
    assert.deepEqual(x.changes, [{ rev: '1-b' }, { rev: '1-a' }]);
    assert.deepEqual(x.doc, { _id: 'x', _rev: '1-b', n: 2, _conflicts: ['1-a'] });
    assert.equal((y.doc!['_attachments'] as { f: { data: string } }).f.data, data);
    assert.equal(gone.deleted, true);
    assert.deepEqual(gone.doc, { _id: 'y', _rev: gone.changes![0]!.rev, _deleted: true });
    feed.stop();
  });

  test('shows the newest first where that is asked for, and then goes on', async () => {
    const db = await newDb(client, '?q=1');
    await put(db, 'a', 'b', 'c');
    const feed = new FeedClient(client, `${db}/_changes?feed=continuous&descending=true`);
    await feed.until('what was there', () => feed.rows.length === 3);
    await put(db, 'd');
    await feed.until('d', () => feed.rows.length === 4);
    assert.deepEqual(feed.ids, ['c', 'b', 'a', 'd']);
    feed.stop();
  });

  test('is also called live', async () => {
    const db = await newDb(client);
    const feed = new FeedClient(client, `${db}/_changes?feed=live`);
    await feed.begun();
    await put(db, 'a');
    await feed.until('a', () => feed.ids.includes('a'));
    feed.stop();
  });
});

describe('a longpoll', () => {
  test('answers with what is there', async () => {
    const db = await newDb(client);
    await put(db, 'a', 'b');
    const { body } = await client.get(`${db}/_changes?feed=longpoll`);
    assert.equal(body.results.length, 2);
  });

  test('waits for the first change, and answers with all that a commit brings', async () => {
    const db = await newDb(client);
    await put(db, 'a');
    const feed = await new FeedClient(client, `${db}/_changes?feed=longpoll&since=now`).begun();
    await pause(50);
    const docs = Array.from({ length: 1_000 }, (_, n) => ({ _id: `doc${n}`, pad: 'x'.repeat(100) }));
    await client.post(`${db}/_bulk_docs`, { docs });
    await feed.ended();
    const { results, last_seq, pending } = JSON.parse(feed.text);
    assert.equal(results.length, 1_000);
    assert.equal(pending, 0);
    assert.deepEqual(
      (await client.get(`${db}/_changes?since=${encodeURIComponent(last_seq)}`)).body.results,
      [],
    );
  });

  test('does not answer to a change that its filter keeps back', async () => {
    const db = await newDb(client);
    const feed = await new FeedClient(client, `${db}/_changes?feed=longpoll&filter=_doc_ids`, {
      json: { doc_ids: ['wanted'] },
    }).begun();
    await put(db, 'a', 'b');
    await pause(100);
    assert.equal(feed.isOpen, true);
    await put(db, 'wanted');
    await feed.ended();
    assert.deepEqual(
      JSON.parse(feed.text).results.map(({ id }: FeedLine) => id),
      ['wanted'],
    );
  });
});

describe('an event source', () => {
  test('has data and ids, and goes on from the id that a browser sends', async () => {
    const db = await newDb(client, '?q=1');
    await put(db, 'a', 'b');
    const feed = new FeedClient(client, `${db}/_changes?feed=eventsource&heartbeat=100`);
    await feed.until('a heartbeat', () => feed.text.includes('event: heartbeat\ndata: \n\n'));
    assert.equal(feed.headers['content-type'], 'text/event-stream');
    assert.equal(feed.headers['cache-control'], 'no-cache');
    const [first, second] = feed.text.split('\n\n') as [string, string];
    const [, json, id] = /^data: (.*)\nid: (.*)$/.exec(first) as unknown as [string, string, string];
    assert.equal((JSON.parse(json) as FeedLine).id, 'a');
    assert.equal(JSON.parse(id), (JSON.parse(json) as FeedLine).seq);
    feed.stop();
    const again = new FeedClient(client, `${db}/_changes?feed=eventsource&since=now`, {
      headers: { 'last-event-id': id },
    });
    await again.until('the second row', () => again.text.includes('\n\n'));
    assert.equal(again.text, `${second}\n\n`);
    again.stop();
    const byQuery = await client.get(`${db}/_changes?last-event-id=${encodeURIComponent(id)}`);
    assert.equal(byQuery.body.results.length, 1);
  });
});

describe('listeners', () => {
  test('of all kinds hear of the same writes, in the order of the shard', async () => {
    const db = await newDb(client, '?q=1');
    const kinds = ['', '&include_docs=true', '&style=all_docs', '&seq_interval=3', '&filter=_selector'];
    const feeds = kinds.flatMap((query) =>
      Array.from({ length: 3 }, () => {
        const json = query.includes('selector') ? { json: { selector: { n: { $gte: 0 } } } } : {};
        return new FeedClient(client, `${db}/_changes?feed=continuous${query}`, json);
      }),
    );
    await Promise.all(feeds.map((feed) => feed.begun()));
    for (let n = 0; n < 200; n++) await client.put(`${db}/doc${n}`, { n });
    const all = (await client.get(`${db}/_changes`)).body.results.length as number;
    assert.equal(all, 200);
    for (const feed of feeds) {
      await feed.until('all rows', () => feed.rows.length >= 200);
      assert.deepEqual(
        feed.ids,
        Array.from({ length: 200 }, (_, n) => `doc${n}`),
      );
      feed.stop();
    }
  });

  test('that read slowly hold up nobody else, and miss nothing', async () => {
    const db = await newDb(client, '?q=1');
    const slow = await new FeedClient(client, `${db}/_changes?feed=continuous&include_docs=true`).begun();
    const quick = await new FeedClient(client, `${db}/_changes?feed=continuous&include_docs=true`).begun();
    slow.pause();
    const pad = 'x'.repeat(100_000);
    const before = keptBytes();
    for (let n = 0; n < 300; n++) await client.put(`${db}/doc${n}`, { pad });
    await quick.until('all rows', () => quick.lineCount === 300);
    const kept = keptBytes() - before;
    // What waits for the slow one, in the server and in the system, is a small part of the thirty megabytes.
    assert.ok(kept < 15e6, `${kept} bytes`);
    assert.ok(slow.text.length < 10e6);
    slow.resume();
    await slow.until('all rows', () => slow.lineCount === 300);
    assert.deepEqual(slow.ids, quick.ids);
    await put(db, 'last');
    await slow.until('the last row', () => slow.ids.at(-1) === 'last');
    slow.stop();
    quick.stop();
  });
});

describe('a feed ends, with the place to go on from,', () => {
  test('when its database is deleted', async () => {
    const db = await newDb(client);
    await put(db, 'a');
    const feed = new FeedClient(client, `${db}/_changes?feed=continuous&heartbeat=60000`);
    const poll = new FeedClient(client, `${db}/_changes?feed=longpoll&since=now`);
    await feed.until('a', () => feed.rows.length === 1);
    await poll.begun();
    await client.delete(db);
    await feed.ended();
    await poll.ended();
    assert.equal(feed.complete, true);
    assert.equal(feed.lines.at(-1)!.last_seq, feed.rows[0]!.seq);
    assert.deepEqual(JSON.parse(poll.text).results, []);
  });

  test('when the user loses the right to it', async () => {
    const db = await newDb(client);
    const anonymous = await new FeedClient(client.anonymous, `${db}/_changes?feed=continuous`).begun();
    const admin = await new FeedClient(client, `${db}/_changes?feed=continuous`).begun();
    await client.put(`${db}/_security`, { members: { names: ['somebody'], roles: [] } });
    await anonymous.ended();
    assert.equal(anonymous.complete, true);
    assert.ok(anonymous.lines.at(-1)!.last_seq);
    assert.equal(admin.isOpen, true);
    await put(db, 'secret');
    await admin.until('the row', () => admin.ids.includes('secret'));
    assert.ok(!anonymous.text.includes('secret'));
    admin.stop();
  });

  test('when the account is gone', async () => {
    const db = await newDb(client);
    await client.put(`${db}/_security`, { members: { names: ['somebody'], roles: [] } });
    await client.put('/_node/_local/_config/admins/second', 'pass');
    const second = await new FeedClient(client.as('second:pass'), `${db}/_changes?feed=continuous`).begun();
    assert.equal(second.status, 200);
    await client.delete('/_node/_local/_config/admins/second');
    await second.ended();
    assert.ok(second.lines.at(-1)!.last_seq);
  });

  test('when a user is removed, or loses a role that it needs', async () => {
    const db = await newDb(client);
    await client.put(`${db}/_security`, { members: { names: ['ann'], roles: ['reader'] } });
    const account = { type: 'user', roles: [], password: 'pw' };
    const ann = (await client.put('/_users/org.couchdb.user:ann', { ...account, name: 'ann' })).body;
    const bob = (
      await client.put('/_users/org.couchdb.user:bob', { ...account, name: 'bob', roles: ['reader'] })
    ).body;
    const feeds = await Promise.all(
      ['ann:pw', 'bob:pw'].map((who) =>
        new FeedClient(client.as(who), `${db}/_changes?feed=continuous`).begun(),
      ),
    );
    assert.deepEqual(
      feeds.map(({ status }) => status),
      [200, 200],
    );
    // A change that takes nothing away ends nothing.
    await client.put('/_users/org.couchdb.user:cid', { ...account, name: 'cid' });
    await pause(400);
    assert.ok(feeds.every(({ isOpen }) => isOpen));
    await client.delete(`/_users/org.couchdb.user:ann?rev=${ann.rev}`);
    await feeds[0]!.ended();
    assert.equal(feeds[1]!.isOpen, true);
    await client.put('/_users/org.couchdb.user:bob', { ...account, name: 'bob', _rev: bob.rev });
    await feeds[1]!.ended();
    assert.ok(feeds.every(({ complete }) => complete));
    assert.equal((await client.as('cid:pw').get('/_users/_changes')).status, 401);
  });

  test('when the server closes, also where nobody reads', async () => {
    const server = await createServer({
      inMemory: true,
      admins: { admin: 'secret' },
      port: 0,
      logLevel: 'none',
    });
    const local = new HttpClient(server.url);
    await local.put('/db');
    const idle = await new FeedClient(local, '/db/_changes?feed=continuous&heartbeat=60000').begun();
    const poll = await new FeedClient(local, '/db/_changes?feed=longpoll').begun();
    const stuck = await new FeedClient(local, '/db/_changes?feed=continuous&include_docs=true').begun();
    stuck.pause();
    for (let n = 0; n < 100; n++) await local.put(`/db/doc${n}`, { pad: 'x'.repeat(100_000) });
    const started = performance.now();
    await server.close();
    assert.ok(performance.now() - started < 5_000);
    await idle.ended();
    assert.equal(idle.complete, true);
    assert.ok(idle.rows.length > 50);
    assert.equal(idle.lines.at(-1)!.last_seq, idle.rows.at(-1)!.seq);
    await poll.ended();
    assert.ok(JSON.parse(poll.text).results.length > 0);
    stuck.stop();
  });
});

test('of since and last-event-id the one that is given last counts', async () => {
  const db = await newDb(client);
  await client.put(`${db}/a`, {});
  const { body } = await client.get(`${db}/_changes`);
  const since = `since=${encodeURIComponent(body.last_seq)}`;
  const rows = async (query: string): Promise<number> =>
    (await client.get(`${db}/_changes?${query}`)).body.results.length;
  assert.equal(await rows(`last-event-id=0&${since}`), 0);
  assert.equal(await rows(`${since}&last-event-id=0`), 1);
});
