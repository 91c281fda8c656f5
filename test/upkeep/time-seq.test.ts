import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer({ config: { tuffet: { time_seq_interval_seconds: '1' } } });

type Counts = [time: string, changes: number][];

/** Of a database with one shard. */
async function counts(db: string): Promise<Counts> {
  const { time_seq: shards } = (await client.get(`${db}/_time_seq`)).body;
  return shards['00000000-ffffffff']['tuffet@127.0.0.1'];
}

async function marked(db: string, marks: number): Promise<Counts> {
  const end = Date.now() + 60_000;
  for (;;) {
    const found = await counts(db);
    if (found.filter(([time]) => time > '2000').length >= marks) return found;
    assert.ok(Date.now() < end, 'no time was recorded within a minute');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const idsSince = async (db: string, since: string): Promise<string[]> => {
  const answer = await client.get(`${db}/_changes?since=${encodeURIComponent(since)}`);
  assertOk(answer, 200);
  return answer.body.results.map((row: { id: string }) => row.id);
};

test('times of changes are recorded, and a feed may begin at one', async () => {
  const db = await newDb(client, '?q=1');
  assert.deepEqual(await counts(db), []);
  for (const id of ['a', 'b']) await client.put(`${db}/${id}`, {});
  const first = await marked(db, 1);
  assert.deepEqual(first[0], ['1970-01-01T00:00:00Z', 2]);
  const [time] = first.at(-1)!;
  assert.match(time, /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.deepEqual(await idsSince(db, time), []);
  await client.put(`${db}/c`, {});
  assert.deepEqual(await idsSince(db, time), ['c']);
  assert.deepEqual((await counts(db)).at(-1), [time, 1]);
  await marked(db, 2);
  const later = new Date(Date.parse(time) + 7_200_000).toISOString();
  for (const same of [later, later.replace('Z', '+00:00'), `"${later}"`])
    assert.deepEqual(await idsSince(db, same), [], same);
  for (const old of ['1969-01-01T00:00:00Z', '2000-01-01T00:00:00.5+02:00'])
    assert.deepEqual(await idsSince(db, old), ['a', 'b', 'c'], old);
});

test('the feed of databases may begin at a time too', async () => {
  await newDb(client);
  const later = new Date(Date.now() + 7_200_000).toISOString();
  const end = Date.now() + 60_000;
  // A mark comes after the event; what is not covered by one is shown again.
  for (;;) {
    const answer = await client.get(`/_db_updates?since=${encodeURIComponent(later)}`);
    assertOk(answer, 200);
    if (answer.body.results.length === 0) break;
    assert.ok(Date.now() < end, 'changes before the time are shown');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const all = await client.get('/_db_updates?since=1969-01-01T00:00:00Z');
  assert.ok(all.body.results.length > 0);
});

test('what only looks like a time is no sequence', async () => {
  const db = await newDb(client);
  for (const since of ['2025-13-01T00:00:00Z', '2025-01-01', '2025-01-01T00:00:00', '2025-01-01T99:00:00Z'])
    assertRefused(await client.get(`${db}/_changes?since=${since}`), 400, 'bad_request');
});

test('every shard has its own list, and DELETE forgets the times', async () => {
  const db = await newDb(client, '?q=2');
  const shards = ['00000000-7fffffff', '80000000-ffffffff'];
  assert.deepEqual(Object.keys((await client.get(`${db}/_time_seq`)).body.time_seq), shards);
  const single = await newDb(client, '?q=1');
  await client.put(`${single}/a`, {});
  await marked(single, 1);
  const answer = await client.delete(`${single}/_time_seq`);
  assertOk(answer, 200);
  assert.deepEqual(answer.body, { ok: true });
  assert.deepEqual(await counts(single), []);
  assertRefused(await client.put(`${db}/_time_seq`, {}), 405, 'method_not_allowed');
});
