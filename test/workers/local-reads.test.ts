import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { withoutProc } from '../long/server-process.js';
import type { Answer, HttpClient, RequestOptions } from '../support/http-client.js';
import { prefixOf, Scene, until } from './scene.js';

const map = (source: string): { map: string } => ({ map: source });

const designDoc = {
  _id: '_design/d',
  views: {
    byN: map('function (doc) { emit(doc.n, doc.n); }'),
    summed: { ...map('function (doc) { if (doc.n) emit([doc.n % 3, doc.n], doc.n); }'), reduce: '_stats' },
    scripted: {
      ...map('function (doc) { emit(doc.n, doc.n); }'),
      reduce: 'function (keys, values) { return 1; }',
    },
  },
};

const json = { 'content-type': 'application/json' };
const post = (body: unknown): RequestOptions => ({ raw: JSON.stringify(body), headers: json });

type Asked = [method: string, path: string, options?: RequestOptions];

/** Fills `db`, and gives reads that a worker answers by itself. */
async function prepare(client: HttpClient): Promise<Asked[]> {
  const docs = [...Array(300).keys()].map((n) => ({
    _id: `d${String(n).padStart(3, '0')}`,
    n,
    text: 'é'.repeat(n),
  }));
  assert.equal((await client.post('/db/_bulk_docs', { docs: [...docs, designDoc] })).status, 201);
  const twins = [1, 2].map((n) => ({ _id: 'twins', _rev: `1-${String(n).repeat(32)}`, n }));
  await client.post('/db/_bulk_docs', { docs: twins, new_edits: false });
  await client.put('/db/_local/l', { n: 1 });
  const attachments = { small: randomBytes(1_000), large: randomBytes(700_000) };
  let { rev } = (await client.put('/db/files', {})).body as { rev: string };
  for (const [name, raw] of Object.entries(attachments)) {
    const saved = await client.send('PUT', `/db/files/${name}?rev=${rev}`, {
      raw,
      headers: { 'content-type': 'application/octet-stream' },
    });
    rev = saved.body.rev as string;
  }
  assert.equal((await client.post('/db/_index', { index: { fields: ['n'] }, ddoc: 'i' })).status, 200);
  const all = await client.post('/db/_all_docs', { keys: ['d001', 'd002'] });
  const { rows } = all.body as { rows: { id: string; value: { rev: string } }[] };
  return [
    ['GET', '/db/d001?revs=true&revs_info=true'],
    ['GET', `/db/d001?rev=${rows[0]!.value.rev}`],
    ['HEAD', '/db/d001?revs=true'],
    ['GET', '/db/twins?conflicts=true&local_seq=true&meta=true'],
    ['GET', '/db/twins?open_revs=all'],
    ['GET', '/db/files?att_encoding_info=true'],
    ['GET', '/db/files?attachments=true'],
    ['GET', '/db/files/small'],
    ['GET', '/db/files/large'],
    ['HEAD', '/db/files/large'],
    ['GET', '/db/files/large', { headers: { range: 'bytes=1000-600000' } }],
    ['GET', '/db/_local/l'],
    ['GET', '/db/_design/d'],
    ['GET', '/db/_all_docs'],
    ['GET', '/db/_all_docs?limit=20'],
    ['GET', '/db/_all_docs?startkey="d100"&limit=20&include_docs=true&update_seq=true'],
    ['GET', '/db/_all_docs?startkey="d200"&endkey="d100"&descending=true&skip=3'],
    ['GET', '/db/_all_docs?key="d100"'],
    ['HEAD', '/db/_all_docs?limit=1'],
    ['POST', '/db/_all_docs?include_docs=true', post({ keys: ['d003', 'none', 'd001'] })],
    ['POST', '/db/_all_docs/queries', post({ queries: [{ keys: ['d003'] }, { startkey: 'd290' }] })],
    ['GET', '/db/_design_docs'],
    ['GET', '/db/_local_docs'],
    ['POST', '/db/_bulk_get?revs=true', post({ docs: [{ id: 'd001' }, { id: 'none' }, { id: 'twins' }] })],
    ['POST', '/db/_revs_diff', post({ d001: ['1-x', '9-y'] })],
    ['GET', '/db/_changes'],
    ['GET', '/db/_changes?limit=1000&include_docs=true'],
    ['GET', '/db/_changes?since=now'],
    ['POST', '/db/_changes?filter=_doc_ids', post({ doc_ids: ['d001'] })],
    ['GET', '/db/_design/d/_view/byN?key=17'],
    ['GET', '/db/_design/d/_view/byN?startkey=20&endkey=40&include_docs=true&update_seq=true'],
    ['GET', '/db/_design/d/_view/byN?descending=true&limit=5&skip=2'],
    ['GET', '/db/_design/d/_view/byN?update=false'],
    ['POST', '/db/_design/d/_view/byN', post({ keys: [1, 5, 1000] })],
    ['GET', '/db/_design/d/_view/summed?group_level=1'],
    ['GET', '/db/_design/d/_view/summed?reduce=false&limit=3'],
    ['HEAD', '/db/_design/d/_view/summed?key=1'],
    ['POST', '/db/_find', post({ selector: { n: { $gt: 100, $lt: 110 } }, use_index: 'i' })],
    ['POST', '/db/_find', post({ selector: { n: 5, text: { $exists: true } }, fields: ['n'] })],
    ['POST', '/db/_explain', post({ selector: { n: 5 } })],
  ];
}

/** The headers that say something of the answer itself. How much of it is sent at a time depends on how fast it is found. */
const comparable = ({ headers }: Answer): object => {
  const own = [
    ...['date', 'x-couch-request-id', 'x-request-id', 'x-couchdb-body-time'],
    ...['content-length', 'transfer-encoding', 'vary'],
  ];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !own.includes(name)));
};

/** In which order the shards of a database are read for a feed depends on how fast that is done. */
function textOf({ text, body }: Answer, path: string): string {
  if (!path.startsWith('/db/_changes')) return text.replace(/"execution_time_ms":[\d.]+/, '');
  const rows = (body.results as { id: string; seq: unknown }[]).map((row) =>
    JSON.stringify({ ...row, seq: 0 }),
  );
  return [...rows.sort(), body.last_seq, body.pending].join('\n');
}

test('reads through a worker', { skip: withoutProc }, async (t) => {
  const scene = await Scene.start(t);
  const [owner, worker] = await scene.pair();
  const ownPrefix = prefixOf(await owner.get('/'));

  const isByWorker = (answer: Answer): boolean => prefixOf(answer) !== ownPrefix;

  /** Asks until the worker has answered by itself: it asks for leave first, and indexes have to be filled. */
  async function byWorker([method, path, options]: Asked): Promise<Answer> {
    let answer: Answer | undefined;
    await until(`the worker answers ${method} ${path}`, async () => {
      answer = await worker.send(method, path, options);
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
      return isByWorker(answer);
    });
    return answer!;
  }

  await t.test('are answered by itself, as the owner answers them', async () => {
    for (const asked of await prepare(owner)) {
      const here = await byWorker(asked);
      const there = await owner.send(...asked);
      const name = asked.slice(0, 2).join(' ');
      assert.ok(!isByWorker(there), name);
      assert.equal(here.status, there.status, name);
      assert.equal(textOf(here, asked[1]), textOf(there, asked[1]), name);
      assert.deepEqual(comparable(here), comparable(there), name);
    }
  });

  await t.test('of what is not there are answered by itself too', async () => {
    for (const path of ['/db/none?conflicts=true', '/db/files/none', '/db/_design/d/_view/none']) {
      const [here, there] = [await worker.get(path), await owner.get(path)];
      assert.ok(isByWorker(here) && !isByWorker(there), path);
      assert.deepEqual([here.status, here.text], [404, there.text]);
      assert.deepEqual(comparable(here), comparable(there));
    }
  });

  await t.test('that cannot be answered here are passed on, with their bodies', async () => {
    const asked: [...Asked, status: number][] = [
      ['GET', '/db/_all_docs?limit=x', {}, 400],
      ['POST', '/db/_find', post({ selector: 1 }), 400],
      ['POST', '/db/_all_docs', post({ keys: 1 }), 400],
      ['POST', '/db/_design/d/_view/scripted', post({ keys: [1, 2], group: true }), 200],
      ['GET', '/db/_design/d/_view/byN?update=lazy', {}, 200],
      ['POST', '/db/_design/d/_view/byN', post({ update: 'lazy', limit: 1 }), 200],
      ['GET', '/db/_changes?limit=1&since=3', {}, 200],
      ['GET', '/db', {}, 200],
    ];
    for (const [method, path, options, status] of asked) {
      const here = await worker.send(method, path, options);
      assert.equal(here.status, status, `${method} ${path}: ${here.text}`);
      assert.ok(!isByWorker(here), path);
      const there = await owner.send(method, path, options);
      if (path !== '/db') assert.equal(here.text, there.text);
    }
  });

  await t.test('see every write at once', async () => {
    await owner.put('/db/w0', { n: 1_000 });
    await byWorker(['GET', '/db/_design/d/_view/byN?key=1000']);
    let local = 0;
    for (let n = 1; n <= 40; n++) {
      const id = `w${n}`;
      const { rev } = (await owner.put(`/db/${id}`, { n: 1_000 + n })).body as { rev: string };
      const all = await worker.get(`/db/_all_docs?startkey="w"&endkey="w~"`);
      assert.equal(all.body.rows.length, n + 1);
      assert.equal(all.body.offset, (await owner.get(`/db/_all_docs?startkey="w"`)).body.offset);
      const page = await worker.get('/db/_all_docs?limit=1');
      assert.equal(page.body.total_rows, all.body.total_rows);
      const view = await worker.get(`/db/_design/d/_view/byN?key=${1_000 + n}`);
      assert.equal(view.body.rows.length, 1, view.text);
      const found = await worker.post('/db/_find', { selector: { n: 1_000 + n }, use_index: 'i' });
      assert.equal(found.body.docs.length, 1, found.text);
      const changes = await worker.get('/db/_changes?since=0');
      const rows = changes.body.results as { id: string; changes: unknown[] }[];
      assert.deepEqual(rows.find((row) => row.id === id)?.changes, [{ rev }]);
      const got = await worker.post('/db/_bulk_get', { docs: [{ id }] });
      assert.equal(got.body.results[0].docs[0].ok._rev, rev);
      const again = await worker.get(`/db/_design/d/_view/byN?key=${1_000 + n}`);
      assert.equal(again.text, view.text);
      for (const answer of [all, page, changes, got, again]) if (isByWorker(answer)) local++;
    }
    // The index of the view was brought up to date by the first query of each round.
    assert.ok(local >= 190, `${local} of 200`);
  });

  await t.test('see other functions as soon as a design document has changed', async () => {
    const query: Asked = ['GET', '/db/_design/changing/_view/v?limit=1'];
    let _rev: string | undefined;
    for (let n = 1; n <= 5; n++) {
      const views = { v: map(`function (doc) { emit(doc._id, ${n}); }`) };
      const saved = await owner.put('/db/_design/changing', { ...(_rev && { _rev }), views });
      _rev = saved.body.rev as string;
      assert.equal((await worker.get(query[1])).body.rows[0].value, n);
      assert.equal((await byWorker(query)).body.rows[0].value, n);
    }
    await owner.delete(`/db/_design/changing?rev=${_rev}`);
    assert.equal((await worker.get(query[1])).status, 404);
  });

  await t.test('are counted and logged as those of the owner are', async () => {
    const path = '/_node/_local/_stats/couchdb';
    const of = async (): Promise<number[]> => {
      const { body } = await owner.get(path);
      return [body.httpd.view_reads.value, body.database_reads.value, body.httpd_request_methods.POST.value];
    };
    await byWorker(['GET', '/db/_design/d/_view/byN?key=1']);
    const first = await of();
    for (let n = 0; n < 10; n++) {
      assert.ok(isByWorker(await worker.get('/db/_design/d/_view/byN?key=1')));
      assert.ok(isByWorker(await worker.post('/db/_bulk_get', { docs: [{ id: 'd001' }, { id: 'd002' }] })));
    }
    assert.deepEqual(await of(), [first[0]! + 10, first[1]! + 20, first[2]! + 10]);
  });

  await t.test('go on after compactions of documents and indexes', async () => {
    for (let round = 0; round < 3; round++) {
      assert.equal((await owner.post('/db/_compact')).status, 202);
      assert.equal((await owner.post('/db/_compact/d')).status, 202);
      for (let n = 0; n < 20; n++) {
        assert.equal((await worker.get('/db/_all_docs?key="d001"')).body.rows.length, 1);
        assert.equal((await worker.get('/db/_design/d/_view/byN?key=17')).body.rows.length, 1);
      }
    }
    await byWorker(['GET', '/db/_design/d/_view/byN?key=17']);
  });

  await t.test('end with a right, a user or the database', async () => {
    const user = { name: 'u', type: 'user', roles: [], password: 'pw' };
    const { rev } = (await owner.put('/_users/org.couchdb.user:u', user)).body as { rev: string };
    const reader = worker.as('u:pw');
    const paths = ['/db/_all_docs?limit=1', '/db/_design/d/_view/byN?limit=1', '/db/_changes?limit=1'];
    const read = async (status: number): Promise<void> => {
      for (const path of paths) assert.equal((await reader.get(path)).status, status, path);
    };
    const secure = async (names: string[]): Promise<void> => {
      assert.equal((await owner.put('/db/_security', { members: { names } })).status, 200);
    };
    const untilLocal = (): Promise<void> =>
      until('the user reads through the worker', async () => {
        await read(200);
        return isByWorker(await reader.get(paths[0]!));
      });
    await secure(['u']);
    await untilLocal();
    await secure(['other']);
    await read(403);
    await secure(['u']);
    await untilLocal();
    await owner.delete(`/_users/org.couchdb.user:u?rev=${rev}`);
    await read(401);
    await secure([]);
    for (let round = 0; round < 3; round++) {
      assert.equal((await owner.delete('/db')).status, 200);
      for (const path of paths) assert.equal((await worker.get(path)).status, 404, path);
      assert.equal((await owner.put('/db')).status, 201);
      assert.equal((await worker.get(paths[0]!)).body.total_rows, 0);
      assert.equal((await owner.post('/db/_bulk_docs', { docs: [designDoc, { n: round }] })).status, 201);
      assert.equal((await worker.get(paths[0]!)).body.total_rows, 2);
      assert.equal((await worker.get(paths[1]!)).body.rows[0].value, round);
      assert.equal((await byWorker(['GET', paths[1]!])).body.rows[0].value, round);
    }
  });
});
