/** The database update feed: `GET /_db_updates`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused } from '../support/expect.js';
import { FeedClient } from '../support/feed-client.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer({ config: { global_changes: { max_write_delay: '50' } } });
await client.put('/_global_changes');

interface Event {
  db_name: string;
  type: string;
  seq: string;
}

async function events(query: string): Promise<{ results: Event[]; last_seq: string }> {
  const { status, body, text } = await client.get(`/_db_updates${query}`);
  assert.equal(status, 200, text);
  return body as { results: Event[]; last_seq: string };
}

const since = (seq: string): string => `since=${encodeURIComponent(seq)}`;
const now = async (): Promise<string> => {
  // What was done before is written after a moment.
  await new Promise((resolve) => setTimeout(resolve, 300));
  return (await events('?since=now')).last_seq;
};

/** Waits for events of one database, which come after a moment. */
async function typesOf(name: string, from: string, count: number): Promise<string[]> {
  for (let tries = 0; ; tries++) {
    const { results } = await events(`?${since(from)}`);
    const types = results.filter(({ db_name }) => db_name === name).map(({ type }) => type);
    if (types.length >= count || tries > 50) return types;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('the feed of databases', () => {
  test('tells that a database was created, changed and removed', async () => {
    const start = await now();
    const db = await newDb(client);
    const name = db.slice(1);
    assert.deepEqual(await typesOf(name, start, 1), ['created']);
    const created = await now();
    await client.put(`${db}/doc`, {});
    assert.deepEqual(await typesOf(name, created, 1), ['updated']);
    const updated = await now();
    await client.delete(db);
    assert.deepEqual(await typesOf(name, updated, 1), ['deleted']);
  });

  test('as normal gives all historical changes and closes', async () => {
    await newDb(client);
    await now();
    const { results, last_seq } = await events('');
    assert.ok(results.length > 0);
    assert.ok(results.every(({ db_name, type, seq }) => db_name !== '' && seq !== '' && type !== ''));
    assert.equal(typeof last_seq, 'string');
    assert.deepEqual(await events('?feed=normal'), { results, last_seq });
  });

  test('as longpoll closes after the first event', async () => {
    const start = await now();
    const feed = await new FeedClient(client, `/_db_updates?feed=longpoll&${since(start)}`).begun();
    assert.equal(feed.headers['transfer-encoding'], 'chunked');
    const db = await newDb(client);
    await feed.ended();
    const { results } = JSON.parse(feed.text) as { results: Event[] };
    assert.deepEqual(
      results.map(({ db_name, type }) => [db_name, type]),
      [[db.slice(1), 'created']],
    );
  });

  test('as continuous gives a line for each event and stays open until the timeout', async () => {
    const feed = new FeedClient(client, `/_db_updates?feed=continuous&${since(await now())}&timeout=1500`);
    await feed.begun();
    const started = performance.now();
    const db = await newDb(client);
    await feed.until('an event', () => feed.rows.length === 1);
    assert.deepEqual([feed.rows[0]!.db_name, feed.rows[0]!.type], [db.slice(1), 'created']);
    await client.put(`${db}/doc`, {});
    await feed.ended();
    const ms = performance.now() - started;
    assert.ok(ms > 1_200 && ms < 5_000, `${ms} ms`);
    assert.deepEqual(Object.keys(feed.lines.at(-1)!), ['last_seq']);
  });

  test('as eventsource has the form of events', async () => {
    const feed = new FeedClient(client, `/_db_updates?feed=eventsource&${since(await now())}`);
    await feed.begun();
    assert.equal(feed.headers['content-type'], 'text/event-stream');
    await newDb(client);
    await feed.until('an event', () => feed.text.includes('\n\n'));
    assert.match(feed.text, /^data: \{"db_name":"test\d+","type":"created","seq":"[^"]+"\}\nid: "[^"]+"\n\n/);
    feed.stop();
  });

  test('sends empty lines as heartbeats, which keep it alive beyond the timeout', async () => {
    const query = `/_db_updates?feed=continuous&${since(await now())}&heartbeat=100&timeout=150`;
    const feed = new FeedClient(client, query);
    await feed.until('heartbeats', () => feed.text.startsWith('\n\n\n\n\n'));
    assert.equal(feed.isOpen, true);
    feed.stop();
    const byDefault = await new FeedClient(
      client,
      '/_db_updates?feed=continuous&since=now&heartbeat=true',
    ).begun();
    assert.equal(byDefault.status, 200);
    byDefault.stop();
  });

  test('since an unknown sequence gives all, since now only what is new', async () => {
    await newDb(client);
    await now();
    const all = await events('');
    for (const unknown of ['abc', '5', '99-g1unknown', '']) {
      assert.equal((await events(`?${since(unknown)}`)).results.length, all.results.length, unknown);
    }
    assert.deepEqual((await events('?since=now')).results, []);
  });

  test('since a list or an object is refused with 400', async () => {
    for (const malformed of ['["a"]', '[]', '[1]', '[1,"abc"]', '{}', '{"a":1}', '['])
      assertRefused(await client.get(`/_db_updates?${since(malformed)}`), 400, 'bad_request');
  });

  test('needs a server admin', async () => {
    const { status, body } = await client.anonymous.get('/_db_updates');
    assert.equal(status, 401);
    assert.equal(body.error, 'unauthorized');
  });

  test('needs the database of events', async () => {
    const bare = await startServer();
    await bare.delete('/_global_changes');
    const { status, body } = await bare.get('/_db_updates');
    assert.equal(status, 404);
    assert.deepEqual(body, { error: 'not_found', reason: 'Database does not exist.' });
  });
});

describe('events', () => {
  test('of many writes are few, and are documents of _global_changes', async () => {
    const start = await now();
    const db = await newDb(client);
    const { doc_count: before } = (await client.get('/_global_changes')).body;
    const { update_seq: seqBefore } = (await client.get('/_global_changes')).body;
    for (let n = 0; n < 200; n++) await client.put(`${db}/doc${n}`, {});
    const types = await typesOf(db.slice(1), start, 2);
    assert.deepEqual([...types].sort(), ['created', 'updated']);
    const { body: info } = await client.get('/_global_changes');
    assert.ok(info.doc_count - before <= 2);
    const writes = parseInt(info.update_seq) - parseInt(seqBefore);
    assert.ok(writes < 100, `${writes} writes`);
    const { body } = await client.get(`/_global_changes/${encodeURIComponent(`updated:${db.slice(1)}`)}`);
    assert.match(body._rev, /^\d+-[0-9a-f]{32}$/);
  });

  test('are not made by security objects, local documents and compaction', async () => {
    const db = await newDb(client);
    await client.put(`${db}/doc`, {});
    const start = await now();
    await client.put(`${db}/_security`, { members: { names: [], roles: [] } });
    await client.put(`${db}/_local/x`, {});
    await client.post(`${db}/_compact`);
    const mark = await newDb(client);
    assert.deepEqual(await typesOf(mark.slice(1), start, 1), ['created']);
    assert.deepEqual(await typesOf(db.slice(1), start, 0), []);
  });
});

test('live is no feed of the events of databases', async () => {
  const answer = await client.get('/_db_updates?feed=live&since=now&timeout=100');
  assertRefused(answer, 400, 'bad_request');
});
