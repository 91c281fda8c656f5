/** Which changes a feed shows. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FeedClient, type FeedLine } from '../support/feed-client.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const scanning = await startServer({ config: { chttpd: { changes_doc_ids_optimization_threshold: '0' } } });

const idsOf = (body: { results: FeedLine[] }): string[] => body.results.map(({ id }) => id!);

describe('_doc_ids', () => {
  test('finds the same by looking documents up as by walking over the changes', async () => {
    for (const server of [client, scanning]) {
      await server.put('/found?q=3');
      const docs = Array.from({ length: 300 }, (_, n) => ({ _id: `doc${n}` }));
      await server.post('/found/_bulk_docs', { docs });
      const { body: doc } = await server.get('/found/doc7');
      await server.delete(`/found/doc7?rev=${doc._rev}`);
      const { body: other } = await server.get('/found/doc8');
      await server.put('/found/doc8', { ...other, again: true });
    }
    const json = { doc_ids: ['doc7', 'doc8', 'doc9', 'doc299', 'doc7', 'none', '_local/x'] };
    for (const query of ['', '&include_docs=true', '&limit=2', '&descending=true', '&style=all_docs']) {
      const path = `/found/_changes?filter=_doc_ids${query}`;
      const looked = await client.post(path, json);
      const walked = await scanning.post(path, json);
      const shown = (rows: FeedLine[]): unknown[] =>
        rows.map(({ id, deleted, doc, changes }) => [id, deleted, doc, changes]);
      if (query === '&limit=2') assert.equal(looked.body.results.length, 2);
      else
        assert.deepEqual(
          new Set(shown(looked.body.results).map((row) => JSON.stringify(row))),
          new Set(shown(walked.body.results).map((row) => JSON.stringify(row))),
        );
    }
    const { body } = await client.post('/found/_changes?filter=_doc_ids', json);
    assert.deepEqual(new Set(idsOf(body)), new Set(['doc7', 'doc8', 'doc9', 'doc299']));
    const next = await client.post(
      `/found/_changes?filter=_doc_ids&since=${encodeURIComponent(body.last_seq)}`,
      json,
    );
    assert.deepEqual(next.body.results, []);
  });

  test('goes on from each of its rows', async () => {
    const db = await newDb(client, '?q=4');
    const docs = Array.from({ length: 200 }, (_, n) => ({ _id: `doc${n}` }));
    await client.post(`${db}/_bulk_docs`, { docs });
    const json = { doc_ids: Array.from({ length: 50 }, (_, n) => `doc${n * 3}`) };
    const { body: all } = await client.post(`${db}/_changes?filter=_doc_ids`, json);
    assert.equal(all.results.length, 50);
    for (const [at, { seq }] of (all.results as FeedLine[]).entries()) {
      const rest = await client.post(
        `${db}/_changes?filter=_doc_ids&since=${encodeURIComponent(seq!)}`,
        json,
      );
      assert.deepEqual(new Set(idsOf(rest.body)), new Set(idsOf(all).slice(at + 1)));
    }
  });
});

describe('a selector', () => {
  test('is asked about every leaf where a feed shows them all, and those that pass are shown', async () => {
    const db = await newDb(client);
    await client.post(`${db}/_bulk_docs`, {
      docs: [
        { _id: 'x', _rev: '1-a', keep: true },
        { _id: 'x', _rev: '1-b', keep: false },
        { _id: 'y', _rev: '1-a', keep: false },
      ],
      new_edits: false,
    });
    const json = { selector: { keep: true } };
    const winners = await client.post(`${db}/_changes?filter=_selector`, json);
    assert.deepEqual(winners.body.results, []);
    const all = await client.post(`${db}/_changes?filter=_selector&style=all_docs`, json);
    assert.deepEqual(
      (all.body.results as FeedLine[]).map(({ id, changes }) => [id, changes]),
      [['x', [{ rev: '1-a' }]]],
    );
  });

  test('goes over many documents that it does not mean without keeping others waiting', async () => {
    const db = await newDb(client);
    const docs = Array.from({ length: 20_000 }, (_, n) => ({ _id: `doc${n}`, n }));
    await client.post(`${db}/_bulk_docs`, { docs });
    const feed = client.post(`${db}/_changes?filter=_selector`, { selector: { n: 19_999 } });
    let longest = 0;
    let done = false;
    void feed.then(() => (done = true));
    while (!done) {
      const started = performance.now();
      await client.get(`${db}/doc1`);
      longest = Math.max(longest, performance.now() - started);
    }
    assert.deepEqual(idsOf((await feed).body), ['doc19999']);
    assert.ok(longest < 1_000, `${longest} ms`);
  });

  test('that is followed live tells of a document when it begins to mean it', async () => {
    const db = await newDb(client);
    const feed = await new FeedClient(client, `${db}/_changes?feed=continuous&filter=_selector`, {
      json: { selector: { state: 'done' } },
    }).begun();
    const { body: saved } = await client.put(`${db}/task`, { state: 'open' });
    await client.put(`${db}/other`, { state: 'done' });
    await feed.until('the other', () => feed.ids.includes('other'));
    await client.put(`${db}/task`, { _rev: saved.rev, state: 'done' });
    await feed.until('the task', () => feed.ids.includes('task'));
    assert.deepEqual(feed.ids, ['other', 'task']);
    feed.stop();
  });
});

describe('a function', () => {
  test('sees the histories of documents, and each leaf where a feed shows them all', async () => {
    const db = await newDb(client);
    await client.put(`${db}/_design/d`, {
      filters: {
        second: 'function (doc) { return doc._revisions.start === 2 && doc._revisions.ids.length === 2; }',
        leaf: "function (doc) { return doc.v === 'a'; }",
      },
    });
    const { body: saved } = await client.put(`${db}/x`, {});
    await client.put(`${db}/x`, { _rev: saved.rev });
    await client.put(`${db}/y`, {});
    const { body } = await client.get(`${db}/_changes?filter=d/second`);
    assert.deepEqual(idsOf(body), ['x']);
    await client.post(`${db}/_bulk_docs`, {
      docs: [
        { _id: 'z', _rev: '1-a', v: 'a' },
        { _id: 'z', _rev: '1-b', v: 'b' },
      ],
      new_edits: false,
    });
    const leaves = await client.get(`${db}/_changes?filter=d/leaf&style=all_docs`);
    assert.deepEqual(
      (leaves.body.results as FeedLine[]).map(({ changes }) => changes),
      [[{ rev: '1-a' }]],
    );
  });

  test('that throws, or never ends, is an error and no end of the server', async () => {
    const db = await newDb(client);
    await client.put(`${db}/_design/d`, {
      filters: { throws: "function () { throw 'no'; }", broken: 'function (' },
    });
    await client.put(`${db}/x`, {});
    for (const name of ['throws', 'broken']) {
      const { status, body } = await client.get(`${db}/_changes?filter=d/${name}`);
      assert.ok(status >= 400 && status <= 500, `${name}: ${status}`);
      assert.equal(typeof body.error, 'string');
    }
    assert.equal((await client.get('/_up')).status, 200);
  });
});

test('a number may be as large as it likes', async () => {
  const db = await newDb(client);
  for (const name of ['limit', 'timeout', 'heartbeat', 'seq_interval']) {
    const { status, text } = await client.get(`${db}/_changes?${name}=99999999999999999999`);
    assert.equal(status, 200, text);
  }
});

test('what is wrong with a feed is said clearly', async () => {
  const db = await newDb(client);
  const wrong: [query: string, status: number][] = [
    ['since=abc', 400],
    ['since=-1', 400],
    ['since=5-xyz', 400],
    ['since=', 400],
    ['since={}', 400],
    ['since=99999999999999999999', 400],
    ['feed=nope', 400],
    ['limit=x', 400],
    ['limit=99999999999999999999&filter=x/y', 404],
    ['limit=1.5', 400],
    ['timeout=x', 400],
    ['timeout=-1', 400],
    ['heartbeat=x', 400],
    ['heartbeat=0', 400],
    ['style=odd', 400],
    ['seq_interval=0', 400],
    ['seq_interval=x', 400],
    ['filter=_nope', 400],
    ['filter=x', 400],
    ['filter=x/y/z', 400],
    ['filter=x/y', 404],
    ['filter=_view', 400],
    ['filter=_view&view=x', 400],
    ['filter=_view&view=x/y', 404],
    ['filter=_selector', 400],
    ['filter=_doc_ids', 400],
    ['filter=_doc_ids&doc_ids={}', 400],
    ['filter=_doc_ids&doc_ids=[1]', 400],
  ];
  for (const [query, status] of wrong) {
    const answer = await client.get(`${db}/_changes?${query}`);
    assert.equal(answer.status, status, `${query}: ${answer.text}`);
    assert.equal(typeof answer.body.reason, 'string');
  }
  for (const json of [
    { selector: 5 },
    { selector: { a: { $nope: 1 } } },
    { selector: {}, fields: 1 },
    { selector: {}, fields: [1] },
    { selector: {}, fields: Array.from({ length: 10_001 }, (_, at) => `f${at}`) },
  ]) {
    const answer = await client.post(`${db}/_changes?filter=_selector`, json);
    assert.equal(answer.status, 400, JSON.stringify(json));
    assert.equal(answer.body.error, 'bad_request');
  }
});

test('filters see the conflicts of a winner with conflicts=true, and none of a leaf among all leaves', async () => {
  const db = await newDb(client);
  const docs = ['1-a', '1-b'].map((_rev) => ({ _id: 'a', _rev }));
  await client.post(`${db}/_bulk_docs`, { new_edits: false, docs });
  await client.put(`${db}/_design/d`, {
    filters: { f: 'function (doc) { return !!doc._conflicts }' },
    views: { v: { map: 'function (doc) { if (doc._conflicts) emit(1) }' } },
  });
  const shown = async (query: string, json?: object): Promise<string[]> => {
    const path = `${db}/_changes?${query}`;
    return idsOf((await (json ? client.post(path, json) : client.get(path))).body);
  };
  const selector = { selector: { _conflicts: { $exists: true } } };
  for (const [filter, json] of [
    ['d/f', undefined],
    ['_view&view=d/v', undefined],
    ['_selector', selector],
  ] as const) {
    assert.deepEqual(await shown(`filter=${filter}`, json), [], filter);
    assert.deepEqual(await shown(`filter=${filter}&conflicts=true`, json), ['a'], filter);
    assert.deepEqual(await shown(`filter=${filter}&conflicts=true&style=all_docs`, json), [], filter);
  }
});
