import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { seed } from '../model/random.js';
import { FlakyProxy, Front } from './front.js';
import { addressOf, assertSame, fillAtRandom, newest, replicate } from './scene.js';

const here = await startServer({ dataDir: temporaryFolder() });
const there = await startServer({ dataDir: temporaryFolder() });
const front = await Front.start(there.url);
const name = (db: string): string => db.slice(1);
const busy = (response: ServerResponse): true => {
  response.writeHead(503).end('{"error":"busy"}');
  return true;
};

describe('what fails is tried again', () => {
  test('a server that is busy for a moment is asked once more', async () => {
    const [from, to] = [await newDb(there), await newDb(here)];
    await fillAtRandom(there, from, 20, 5);
    const seen = new Set<string>();
    front.interfere = ({ method, path }, response) => {
      const first = !seen.has(method + path);
      seen.add(method + path);
      return first && busy(response);
    };
    await replicate(here, { source: front.url(from), target: name(to) });
    await assertSame([there, from], [here, to]);
  });

  test('a server that stays busy makes the replication fail, without a word of its password', async () => {
    const [from, to] = [await newDb(there), await newDb(here)];
    front.interfere = ({ path }, response) => path.includes('_changes') && busy(response);
    const request = { source: front.url(from, 'admin:secret'), target: name(to), retries_per_request: 1 };
    const { status, body, text } = await here.post('/_replicate', request);
    assert.equal(status, 500);
    assert.equal(body.error, 'replication_failed');
    assert.match(body.reason, /_changes was answered 503/);
    assert.ok(!text.includes('secret'));
  });

  test('a document that could not be saved for a passing reason is not given up', async () => {
    const [from, to] = [await newDb(here), await newDb(there)];
    await fillAtRandom(here, from, 10, 6);
    let refusals = 2;
    front.interfere = ({ path }, response) => {
      if (!path.includes('_bulk_docs') || refusals-- <= 0) return false;
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end(
        '[{"id":"plain0","error":"internal_server_error","reason":"x"},{"id":"x","error":"timeout"}]',
      );
      return true;
    };
    const answer = await replicate(here, { source: name(from), target: front.url(to) });
    assert.equal(newest(answer)['doc_write_failures'], 0);
    await assertSame([here, from], [there, to]);
  });

  test('an answer that leaves documents out is not taken for the whole', async () => {
    const [from, to] = [await newDb(there), await newDb(here)];
    await there.post(`${from}/_bulk_docs`, { docs: [{ _id: 'a' }, { _id: 'b' }] });
    front.interfere = ({ path }, response) => {
      if (!path.includes('_bulk_get')) return false;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"results":[]}');
      return true;
    };
    const answer = await replicate(here, { source: front.url(from), target: name(to) });
    assert.deepEqual([newest(answer)['docs_written'], newest(answer)['bulk_get_docs']], [2, 0]);
    await assertSame([there, from], [here, to]);
  });

  test('a document that cannot be stored here fails by itself', async () => {
    const [from, to] = [await newDb(there), await newDb(here)];
    await there.post(`${from}/_bulk_docs`, { docs: [{ _id: 'bad' }, { _id: 'fine' }] });
    const { body: bad } = await there.get(`${from}/bad`);
    const { body: fine } = await there.get(`${from}/fine`);
    const rowOf = ({ _id, _rev }: { _id: string; _rev: string }, member: string): string =>
      `{"id":"${_id}","docs":[{"ok":{"_id":"${_id}","_rev":"${_rev}","a":${member}}}]}`;
    front.interfere = ({ path }, response) => {
      if (!path.includes('_bulk_get')) return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"results":[${rowOf(bad, '"\\ud800"')},${rowOf(fine, '1')}]}`);
      return true;
    };
    const answer = await replicate(here, { source: front.url(from), target: name(to) });
    assert.deepEqual([newest(answer)['docs_written'], newest(answer)['doc_write_failures']], [1, 1]);
    assert.equal((await here.get(`${to}/fine`)).body.a, 1);
    assert.equal((await here.get(`${to}/bad`)).status, 404);
  });

  test('a replicator database that refuses a whole batch for one document gets the others', async () => {
    const from = await newDb(here);
    const to = `${await newDb(there)}%2F_replicator`;
    await there.put(to);
    const ends = { source: 'http://127.0.0.1:1/a', target: 'http://127.0.0.1:1/b' };
    const docs = ['a', 'b', 'c', 'd'].map((_id) => ({
      _id,
      ...ends,
      text: _id === 'c' ? '.'.repeat(5000) : '',
    }));
    await here.post(`${from}/_bulk_docs`, { docs });
    front.interfere = ({ path, headers }, response) => {
      if (!path.includes('_bulk_docs') || Number(headers['content-length']) < 5000) return false;
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end('{"error":"forbidden","reason":"not admitted"}');
      return true;
    };
    const answer = await replicate(here, { source: name(from), target: front.url(to) });
    assert.deepEqual([newest(answer)['docs_written'], newest(answer)['doc_write_failures']], [3, 1]);
    for (const { _id } of docs) {
      assert.equal((await there.get(`${to}/${_id}`)).status, _id === 'c' ? 404 : 200, _id);
    }
    await there.delete(to);
  });

  test('a server without _bulk_get is read document by document', async () => {
    const [from, to] = [await newDb(there), await newDb(here)];
    await fillAtRandom(there, from, 30, 7);
    front.interfere = ({ path }, response) => {
      if (!path.includes('_bulk_get')) return false;
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not_found"}');
      return true;
    };
    front.passed.length = 0;
    await replicate(here, {
      source: front.url(from),
      target: name(to),
      worker_batch_size: 5,
      worker_processes: 1,
    });
    assert.equal(front.count('_bulk_get'), 1);
    await assertSame([there, from], [here, to]);
  });

  test('parameters of a filter do not lead the feed astray', async () => {
    const [from, to] = [await newDb(there), await newDb(here)];
    await there.post(`${from}/_bulk_docs`, { docs: [1, 2, 3].map((v) => ({ _id: `d${v}`, v })) });
    const filters = { min: 'function(doc, req) { return doc.v >= Number(req.query.v); }' };
    await there.put(`${from}/_design/f`, { filters });
    front.interfere = () => false;
    const query_params = { v: 2, since: 'now', limit: 1, feed: 'continuous', style: 'main_only' };
    const request = { source: front.url(from), target: name(to), filter: 'f/min', query_params };
    assert.equal(newest(await replicate(here, request))['docs_written'], 2);
  });

  test('a source that promises more and gives nothing is left in the end', async () => {
    const [from, to] = [await newDb(there), await newDb(here)];
    front.interfere = ({ path }, response) => {
      if (!path.includes('_changes')) return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"results":[],"last_seq":"0","pending":5}');
      return true;
    };
    assert.equal((await replicate(here, { source: front.url(from), target: name(to) }))['ok'], true);
  });

  test('a source that takes no checkpoints is replicated all the same', async () => {
    const [from, to] = [await newDb(there), await newDb(here)];
    await there.put(`${from}/x`, {});
    front.interfere = ({ method, path }, response) => {
      if (method !== 'PUT' || !path.includes('_local')) return false;
      response.writeHead(403, { 'content-type': 'application/json' }).end('{"error":"forbidden"}');
      return true;
    };
    const answer = await replicate(here, { source: front.url(from), target: name(to) });
    assert.equal(newest(answer)['docs_written'], 1);
    const again = await replicate(here, { source: front.url(from), target: name(to) });
    assert.deepEqual([newest(again)['missing_checked'], newest(again)['missing_found']], [1, 0]);
  });
});

describe(`over connections that break off at random (seed ${seed})`, () => {
  for (const [title, bytesMost] of [
    ['everything arrives from a source', 400_000],
    ['everything arrives at a target', 400_000],
  ] as const) {
    test(title, async () => {
      const flaky = await FlakyProxy.start(() => there.port, seed, bytesMost);
      const pull = title.includes('source');
      const [from, to] = pull
        ? [await newDb(there), await newDb(here)]
        : [await newDb(here), await newDb(there)];
      await fillAtRandom(pull ? there : here, from, 250, seed);
      const remote = (db: string): string => `http://admin:secret@127.0.0.1:${flaky.port}${db}`;
      const request = {
        source: pull ? remote(from) : name(from),
        target: pull ? name(to) : remote(to),
        worker_batch_size: 20,
        retries_per_request: 20,
      };
      const answer = await replicate(here, request);
      assert.equal(newest(answer)['doc_write_failures'], 0);
      assert.ok(flaky.cuts > 0);
      await assertSame(pull ? [there, from] : [here, from], pull ? [here, to] : [there, to]);
    });
  }
});

describe('an interrupted replication', () => {
  test('goes on from its checkpoint: less than a batch is read again', async () => {
    const [from, to] = [await newDb(there, '?q=1'), await newDb(here)];
    const docs = Array.from({ length: 400 }, (_, n) => ({ _id: `d${n}` }));
    await there.post(`${from}/_bulk_docs`, { docs });
    let reads = 0;
    front.interfere = ({ path }, response) => path.includes('_bulk_get') && ++reads > 6 && busy(response);
    const request = {
      source: front.url(from),
      target: name(to),
      worker_batch_size: 50,
      worker_processes: 1,
      retries_per_request: 2,
      checkpoint_interval: 10,
    };
    assert.equal((await here.post('/_replicate', request)).status, 500);
    const arrived = (await here.get(to)).body.doc_count as number;
    assert.ok(arrived >= 250 && arrived < 400, String(arrived));
    front.interfere = () => false;
    const { docs_read, docs_written, missing_checked } = newest(await replicate(here, request));
    assert.equal(docs_written, 400 - arrived);
    assert.equal(docs_read, docs_written);
    assert.ok((missing_checked as number) < 400 - arrived + 50, String(missing_checked));
    await assertSame([there, from], [here, to]);
  });

  test('notes where it is when it fails, however long it is until the next checkpoint', async () => {
    const [from, to] = [await newDb(there, '?q=1'), await newDb(here)];
    await there.post(`${from}/_bulk_docs`, {
      docs: Array.from({ length: 400 }, (_, n) => ({ _id: `d${n}` })),
    });
    let reads = 0;
    front.interfere = ({ path }, response) => path.includes('_bulk_get') && ++reads > 6 && busy(response);
    const request = { source: front.url(from), target: name(to), worker_batch_size: 50 };
    const failing = { ...request, worker_processes: 1, retries_per_request: 1 };
    assert.equal((await here.post('/_replicate', failing)).status, 500);
    const arrived = (await here.get(to)).body.doc_count as number;
    front.interfere = () => false;
    const { docs_read, missing_checked } = newest(await replicate(here, request));
    assert.deepEqual([arrived, docs_read, missing_checked], [300, 100, 100]);
  });
});

describe('attachments', () => {
  test('that the target has are not sent again', async () => {
    front.interfere = () => false;
    const [from, to] = [await newDb(here), await newDb(there)];
    const request = { source: name(from), target: front.url(to) };
    const file = { content_type: 'image/png', data: Buffer.alloc(200_000, 'abc').toString('base64') };
    const first = await here.put(`${from}/x`, { _attachments: { f: file } });
    const uploaded = async (): Promise<number> => {
      front.passed.length = 0;
      await replicate(here, request);
      return front.passed.reduce((sum, { bytes }) => sum + bytes, 0);
    };
    assert.ok((await uploaded()) > 200_000);
    await here.put(`${from}/x`, { _rev: first.body.rev, v: 2, _attachments: { f: { stub: true } } });
    assert.ok((await uploaded()) < 20_000);
    await assertSame([here, from], [there, to]);
    assert.equal(addressOf(there, to).includes('@'), true);
  });
});
