/** Sequences: from each of them a feed goes on exactly, and what is not a sequence of this database begins anew. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import type { FeedLine } from '../support/feed-client.js';

const client = await startServer();

interface Changes {
  results: FeedLine[];
  last_seq: string;
  pending: number;
}

async function changes(db: string, query = ''): Promise<Changes> {
  const { status, body, text } = await client.get(`${db}/_changes${query}`);
  assert.equal(status, 200, text);
  return body as Changes;
}

const idsOf = ({ results }: Changes): string[] => results.map(({ id }) => id!);
const since = (seq: string | null | undefined): string => `since=${encodeURIComponent(seq!)}`;

async function fill(db: string, count: number): Promise<void> {
  const docs = Array.from({ length: count }, (_, n) => ({ _id: `doc${n}`, n }));
  assert.equal((await client.post(`${db}/_bulk_docs`, { docs })).status, 201);
}

describe('a sequence', () => {
  for (const q of [1, 3, 8, 40]) {
    test(`of any row resumes a feed exactly behind it, with ${q} shards`, async () => {
      const db = await newDb(client, `?q=${q}`);
      await fill(db, 60);
      // Documents that change again leave gaps behind.
      for (const n of [3, 14, 15]) {
        const { body } = await client.get(`${db}/doc${n}`);
        await client.put(`${db}/doc${n}`, { ...body, again: true });
      }
      const all = await changes(db);
      assert.equal(new Set(idsOf(all)).size, 60);
      for (const [at, { seq }] of all.results.entries()) {
        const rest = await changes(db, `?${since(seq)}`);
        assert.deepEqual(new Set(idsOf(rest)), new Set(idsOf(all).slice(at + 1)));
      }
      assert.deepEqual(idsOf(await changes(db, `?${since(all.last_seq)}`)), []);
    });

    test(`pages through a database without a gap or a repetition, with ${q} shards`, async () => {
      const db = await newDb(client, `?q=${q}`);
      await fill(db, 500);
      const seen: string[] = [];
      let page = await changes(db, '?limit=37');
      for (;;) {
        seen.push(...idsOf(page));
        assert.equal(page.pending, 500 - seen.length);
        if (page.results.length === 0) break;
        assert.equal(page.last_seq, page.results.at(-1)!.seq);
        page = await changes(db, `?limit=37&${since(page.last_seq)}`);
      }
      assert.equal(seen.length, 500);
      assert.equal(new Set(seen).size, 500);
    });
  }

  test('of the newest row, descending, is the place behind everything', async () => {
    const db = await newDb(client);
    await fill(db, 100);
    const [newest] = (await changes(db, '?descending=true&limit=1')).results;
    assert.deepEqual(idsOf(await changes(db, `?${since(newest!.seq)}`)), []);
    const descending = await changes(db, '?descending=true&limit=10');
    const { seq } = descending.results.at(-1)!;
    assert.deepEqual(
      new Set(idsOf(await changes(db, `?${since(seq)}`))),
      new Set(idsOf(descending).slice(0, -1)),
    );
    assert.equal(descending.pending, 90);
  });

  test('does not bound a descending feed', async () => {
    const db = await newDb(client);
    await fill(db, 50);
    const { results } = await changes(db, '?limit=20');
    const all = await changes(db, `?descending=true&${since(results.at(-1)!.seq)}`);
    assert.equal(all.results.length, 50);
    assert.equal(all.pending, 0);
  });

  test('stands at every so many rows where that is asked for', async () => {
    const db = await newDb(client);
    await fill(db, 25);
    const { results, last_seq } = await changes(db, '?seq_interval=10');
    const marked = (rows: typeof results): number[] =>
      rows.flatMap(({ seq }, at) => (seq === null ? [] : [at]));
    assert.deepEqual(marked(results), [0, 10, 20]);
    assert.equal((await changes(db, `?${since(results[10]!.seq)}`)).results.length, 14);
    // CouchDB counts down from the limit, which is 10^15 where there is none.
    for (const [query, rows] of [
      ['seq_interval=3', [1, 4, 7, 10, 13, 16, 19, 22]],
      ['seq_interval=30', [10]],
      ['seq_interval=4&limit=4', [0]],
      ['seq_interval=4&limit=10', [2, 6]],
      ['seq_interval=50&limit=10', []],
      ['seq_interval=10&descending=true', [0, 10, 20]],
    ] as const)
      assert.deepEqual(marked((await changes(db, `?${query}`)).results), rows, query);
    assert.deepEqual((await changes(db, `?${since(last_seq)}`)).results, []);
  });

  test('outlives compaction, purges and a restart', async () => {
    const dataDir = temporaryFolder();
    const first = await startServer({ dataDir });
    await first.put('/kept?q=2');
    const docs = Array.from({ length: 20 }, (_, n) => ({ _id: `doc${n}` }));
    await first.post('/kept/_bulk_docs', { docs });
    const { body: page } = await first.get('/kept/_changes?limit=10');
    const { body: doc } = await first.get('/kept/doc0');
    await first.post('/kept/_purge', { doc0: [doc._rev] });
    await first.post('/kept/_compact');
    await first.post('/_node/_local/_restart');
    const { body: rest } = await first.get(`/kept/_changes?${since(page.last_seq)}`);
    const seen = [...page.results, ...rest.results].map(({ id }: FeedLine) => id);
    assert.equal(new Set(seen).size, seen.length);
    assert.equal(new Set([...seen, 'doc0']).size, 20);
    // A purge leaves no trace in the feed.
    const { body: all } = await first.get('/kept/_changes');
    assert.equal(all.results.length, 19);
  });
});

describe('what begins anew, so that nothing is missed', () => {
  test('a sequence of a database that had the name before', async () => {
    await client.put('/again?q=1');
    await fill('/again', 10);
    const old = (await changes('/again', '?limit=5')).last_seq;
    await client.delete('/again');
    await client.put('/again?q=1');
    await fill('/again', 10);
    assert.equal((await changes('/again', `?${since(old)}`)).results.length, 10);
  });

  test('a sequence of another server of this kind, or of CouchDB', async () => {
    const db = await newDb(client);
    await fill(db, 10);
    const foreign = [
      '23-g1AAAACLeJzLYWBgYMpgTmHgz8tPSTV0MDQy1zMAQsMckEQiQ1L9____szKYExlzgQLsZsaGqYamSdg04DEmSQFIJtnDTEoEm2RmkWpqkpiITUMCSEM9ig3p-DRmATH7OwI',
      '7-g1AQgAAAAAH____wAAAQE',
      '5-g1',
      '5-g1AgME',
      '[5,"g1AgME"]',
    ];
    for (const seq of foreign) assert.equal((await changes(db, `?${since(seq)}`)).results.length, 10, seq);
  });

  test('a sequence that is ahead of the database', async () => {
    const db = await newDb(client, '?q=1');
    await fill(db, 10);
    const { last_seq } = await changes(db);
    // The last character tells of the last bits of the shard's sequence.
    const ahead = last_seq.slice(0, -1) + '_';
    assert.notEqual(ahead, last_seq);
    assert.equal((await changes(db, `?${since(ahead)}`)).results.length, 10);
  });
});

describe('a number as since', () => {
  test('is the sequence itself where there is one shard', async () => {
    const db = await newDb(client, '?q=1');
    await fill(db, 10);
    assert.equal((await changes(db, '?since=4')).results.length, 6);
    assert.equal((await changes(db, '?since=10')).results.length, 0);
    assert.equal((await changes(db, '?since=11')).results.length, 10);
  });

  test('misses nothing where there are several', async () => {
    const db = await newDb(client, '?q=4');
    await fill(db, 40);
    const all = await changes(db);
    for (const [at, { seq }] of all.results.entries()) {
      const number = seq!.split('-')[0]!;
      const rest = new Set(idsOf(await changes(db, `?since=${number}`)));
      for (const id of idsOf(all).slice(at + 1)) assert.ok(rest.has(id), `${id} after ${number}`);
    }
    assert.deepEqual((await changes(db, '?since=40')).results, []);
  });
});

test('pending is exact in the middle of a large database, also after documents have changed again', async () => {
  const db = await newDb(client, '?q=1');
  const count = 9_000;
  for (let from = 0; from < count; from += 3_000) {
    const docs = Array.from({ length: 3_000 }, (_, n) => ({ _id: `doc${from + n}` }));
    await client.post(`${db}/_bulk_docs`, { docs });
  }
  const page = await changes(db, '?limit=1000');
  assert.equal(page.pending, 8_000);
  const next = await changes(db, `?limit=500&${since(page.last_seq)}`);
  assert.equal(next.pending, 7_500);
  // These move to the end, or go.
  for (const id of ['doc0', 'doc1', 'doc8000']) {
    const { body } = await client.get(`${db}/${id}`);
    await client.put(`${db}/${id}`, { ...body, again: 1 });
  }
  const { body: purged } = await client.get(`${db}/doc8001`);
  await client.post(`${db}/_purge`, { doc8001: [purged._rev] });
  await client.put(`${db}/new`, {});
  const later = await changes(db, `?limit=500&${since(next.last_seq)}`);
  assert.equal(later.pending, 7_000 + 2 - 1 + 1);
});
