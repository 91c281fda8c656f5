import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused } from '../support/expect.js';
import type { HttpClient } from '../support/http-client.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { createServer } from '../../src/server/create-server.js';
import { HttpClient as Client } from '../support/http-client.js';
import { Front } from './front.js';
import { addressOf, until } from './scene.js';

const config = {
  chttpd_auth: { iterations: '100' },
  tuffet: { replication_backoff_ms: '50' },
  replicator: { retries_per_request: '0' },
};
const client = await startServer({ dataDir: temporaryFolder(), config });
await client.put('/_replicator');

let names = 0;
const newId = (): string => `job${++names}`;
const docState = (id: string, state: string) =>
  until(
    () => client.get(`/_replicator/${id}`),
    ({ body }) => body._replication_state === state,
  );
const schedulerState = (id: string, state: string, db = '_replicator', at: HttpClient = client) =>
  until(
    () => at.get(`/_scheduler/docs/${db}/${id}`),
    ({ body }) => body.state === state,
  );

async function pair(): Promise<{ from: string; to: string; ends: { source: string; target: string } }> {
  const [from, to] = [await newDb(client), await newDb(client)];
  await client.put(`${from}/a`, { v: 1 });
  return { from, to, ends: { source: addressOf(client, from), target: addressOf(client, to) } };
}

describe('a document of a replicator database', () => {
  test('is worked off, and says so', async () => {
    const { to, ends } = await pair();
    const id = newId();
    assert.equal((await client.put(`/_replicator/${id}`, ends)).status, 201);
    const { body } = await docState(id, 'completed');
    assert.equal(body.owner, 'admin');
    assert.equal(body.source, ends.source);
    assert.match(body._replication_state_time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(body._replication_stats.docs_written, 1);
    assert.equal(body._replication_stats.changes_pending, 0);
    assert.match(body._replication_stats.checkpointed_source_seq, /^1-/);
    assert.equal((await client.get(`${to}/a`)).status, 200);
    const shown = (await schedulerState(id, 'completed')).body;
    assert.equal(shown.id, null);
    assert.equal(shown.info.docs_written, 1);
    assert.equal(shown.source, `${ends.source.replace('admin:secret@', '')}/`);
  });

  test('keeps every number and member as it was written', async () => {
    const { ends } = await pair();
    const id = newId();
    const raw = `{"note":12345678901234567890,"f":1.0,"source":"${ends.source}","target":"${ends.target}"}`;
    await client.send('PUT', `/_replicator/${id}`, { raw });
    const { text } = await docState(id, 'completed');
    assert.ok(text.includes('"note":12345678901234567890,"f":1.0,'), text);
  });

  test('that is continuous follows the source until it is deleted', async () => {
    const { from, to, ends } = await pair();
    const id = newId();
    await client.put(`/_replicator/${id}`, { ...ends, continuous: true });
    const { body } = await schedulerState(id, 'running');
    assert.match(body.id, /^[0-9a-f]{32}\+continuous$/);
    await client.put(`${from}/later`, {});
    await until(
      () => client.get(`${to}/later`),
      ({ status }) => status === 200,
    );
    const { _rev, _replication_state } = (await client.get(`/_replicator/${id}`)).body as Record<
      string,
      string
    >;
    assert.equal(_replication_state, undefined);
    await client.delete(`/_replicator/${id}?rev=${_rev}`);
    await until(
      () => client.get(`/_scheduler/docs/_replicator/${id}`),
      ({ status }) => status === 404,
    );
    const jobs = (await client.get('/_scheduler/jobs')).body.jobs as { doc_id: string }[];
    assert.ok(!jobs.some(({ doc_id }) => doc_id === id));
    await client.put(`${from}/last`, {});
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal((await client.get(`${to}/last`)).status, 404);
  });

  test('copies nothing that comes after it was deleted, however long the note of its place takes', async () => {
    const { from, to } = await pair();
    const front = await Front.start(client.url);
    let hold!: (release: () => void) => void;
    const held = new Promise<() => void>((resolve) => (hold = resolve));
    front.interfere = ({ method, path }, response) => {
      if (method !== 'PUT' || !path.includes('/_local/')) return false;
      hold(() => response.writeHead(201).end('{"ok":true,"id":"_local/x","rev":"0-1"}'));
      return true;
    };
    const id = newId();
    const ends = { source: front.url(from), target: addressOf(client, to) };
    const { rev } = (await client.put(`/_replicator/${id}`, { ...ends, continuous: true })).body;
    await until(
      () => client.get(`${to}/a`),
      ({ status }) => status === 200,
    );
    await client.delete(`/_replicator/${id}?rev=${rev}`);
    const release = await held;
    await client.put(`${from}/last`, {});
    await new Promise((resolve) => setTimeout(resolve, 300));
    release();
    await until(
      () => client.get('/_active_tasks'),
      ({ body }) => !JSON.stringify(body).includes(`"${id}"`),
    );
    assert.equal((await client.get(`${to}/last`)).status, 404);
  });

  test('that is purged is let go of', async () => {
    const { ends } = await pair();
    const id = newId();
    const { rev } = (await client.put(`/_replicator/${id}`, { ...ends, continuous: true })).body as {
      rev: string;
    };
    await schedulerState(id, 'running');
    assert.equal((await client.post('/_replicator/_purge', { [id]: [rev] })).status, 201);
    await until(
      () => client.get('/_scheduler/jobs?limit=1000'),
      ({ body }) => !body.jobs.some(({ doc_id }: { doc_id: string }) => doc_id === id),
    );
  });

  test('that is written anew is worked off anew, with what it says now', async () => {
    const { from, to, ends } = await pair();
    const other = await newDb(client);
    const id = newId();
    await client.put(`/_replicator/${id}`, ends);
    const { body } = await docState(id, 'completed');
    await client.put(`${from}/b`, {});
    await client.put(`/_replicator/${id}`, { ...ends, target: addressOf(client, other), _rev: body._rev });
    await docState(id, 'completed');
    assert.equal((await client.get(`${other}/b`)).status, 200);
    assert.equal((await client.get(`${to}/b`)).status, 404);
  });

  test('that is changed while it runs runs as it says now', async () => {
    const { from, ends } = await pair();
    const other = await newDb(client);
    const id = newId();
    const { rev } = (await client.put(`/_replicator/${id}`, { ...ends, continuous: true })).body as {
      rev: string;
    };
    await schedulerState(id, 'running');
    const changed = { ...ends, target: addressOf(client, other), continuous: true, _rev: rev };
    await client.put(`/_replicator/${id}`, changed);
    await client.put(`${from}/b`, {});
    await until(
      () => client.get(`${other}/b`),
      ({ status }) => status === 200,
    );
    const { jobs } = (await client.get('/_scheduler/jobs')).body as { jobs: { doc_id: string }[] };
    assert.equal(jobs.filter(({ doc_id }) => doc_id === id).length, 1);
    const now = (await client.get(`/_replicator/${id}`)).body as { _rev: string };
    await client.delete(`/_replicator/${id}?rev=${now._rev}`);
  });

  test('whose source is missing crashes, is tried again, and completes when it is there', async () => {
    const id = newId();
    const to = await newDb(client);
    const ends = { source: addressOf(client, '/comes-later'), target: addressOf(client, to) };
    await client.put(`/_replicator/${id}`, ends);
    const { body } = await until(
      () => client.get(`/_scheduler/docs/_replicator/${id}`),
      (answer) => answer.body.state === 'crashing' && answer.body.error_count >= 2,
    );
    assert.deepEqual(body.info, { error: `db_not_found: could not open ${client.url}/comes-later/` });
    assert.equal((await client.get(`/_replicator/${id}`)).body._replication_state, undefined);
    await client.put('/comes-later');
    await docState(id, 'completed');
  });

  test('that asks for the same as another fails, and says why', async () => {
    const { ends } = await pair();
    const [first, second] = [newId(), newId()];
    const doc = { ...ends, continuous: true };
    await client.put(`/_replicator/${first}`, doc);
    await schedulerState(first, 'running');
    await client.put(`/_replicator/${second}`, doc);
    const { body } = await docState(second, 'failed');
    assert.match(
      body._replication_state_reason,
      new RegExp(`triggered by document \`${first}\` from db \`_replicator\``),
    );
    const shown = (await schedulerState(second, 'failed')).body;
    assert.match(shown.info.error, /already started/);
    const { _rev } = (await client.get(`/_replicator/${first}`)).body as { _rev: string };
    await client.delete(`/_replicator/${first}?rev=${_rev}`);
  });

  test('of any database whose name ends so counts, until that is deleted', async () => {
    const { from, to, ends } = await pair();
    await client.put('/team%2F_replicator');
    await client.put('/team%2F_replicator/job', { ...ends, continuous: true });
    await schedulerState('job', 'running', 'team%2F_replicator');
    assert.equal(
      (await schedulerState('job', 'running', 'team/_replicator')).body.database,
      'team/_replicator',
    );
    await client.delete('/team%2F_replicator');
    await until(
      () => client.get('/_scheduler/jobs?limit=1000'),
      ({ body }) => !body.jobs.some(({ doc_id }: { doc_id: string }) => doc_id === 'job'),
    );
    await client.put(`${from}/b`, {});
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal((await client.get(`${to}/b`)).status, 404);
  });

  test('shows passing states too where the configuration asks for it', async () => {
    await client.put('/_node/_local/_config/replicator/update_docs', 'true');
    const { ends } = await pair();
    const id = newId();
    await client.put(`/_replicator/${id}`, { ...ends, continuous: true });
    const { body } = await docState(id, 'triggered');
    assert.match(body._replication_id, /\+continuous$/);
    const missing = newId();
    await client.put(`/_replicator/${missing}`, { ...ends, source: addressOf(client, '/never') });
    const failing = (await docState(missing, 'error')).body;
    assert.match(failing._replication_state_reason, /db_not_found/);
    for (const each of [id, missing]) {
      const { _rev } = (await client.get(`/_replicator/${each}`)).body as { _rev: string };
      await client.delete(`/_replicator/${each}?rev=${_rev}`);
    }
    await client.delete('/_node/_local/_config/replicator/update_docs');
  });
});

describe('the rules of a replicator database', () => {
  const good = { source: 'http://host/a', target: 'http://host/b' };
  const refused = async (doc: Record<string, unknown>, reason: RegExp): Promise<void> => {
    const { status, body, text } = await client.put('/_replicator/refused', doc);
    assert.deepEqual([status, body.error], [403, 'forbidden'], text);
    assert.match(body.reason, reason);
  };

  test('refuse what no replication could be made of', async () => {
    await refused({}, /^Missing replicator database$/);
    await refused({ ...good, source: 'bare' }, /^local_endpoints_not_supported$/);
    await refused({ ...good, source: 5 }, /./);
    await refused({ ...good, target: { url: 'x' } }, /^endpoint has an invalid url$/);
    await refused({ ...good, continuous: 'x' }, /`continuous` must be a boolean/);
    await refused({ ...good, doc_ids: 'x' }, /`doc_ids` must be an array/);
    await refused({ ...good, doc_ids: ['a'], filter: 'a/b' }, /mutually exclusive/);
    await refused({ ...good, selector: { a: { $nope: 1 } } }, /\$nope/);
    await refused({ ...good, filter: 'x' }, /ddocname/);
    await refused({ ...good, cancel: 'x' }, /`cancel` must be a boolean/);
    for (const user_ctx of [5, null, [], 'x']) await refused({ ...good, user_ctx }, /`user_ctx`/);
    assert.equal((await client.get('/_replicator/refused')).status, 404);
  });

  test('a malformed document is forbidden whatever its revision, a well-formed one may be in conflict', async () => {
    const _rev = '7-a';
    await refused({ _rev }, /^Missing replicator database$/);
    await refused({ ...good, _rev, doc_ids: 'x' }, /`doc_ids` must be an array/);
    assert.equal((await client.put('/_replicator/refused', { ...good, _rev })).status, 409);
    assert.equal((await client.put('/_replicator/refused', { _rev, _deleted: true })).status, 409);
    const docs = [{ _id: 'refused', _rev, ...good }];
    const { body } = await client.post('/_replicator/_bulk_docs', { docs });
    assert.equal(body[0].error, 'conflict');
  });

  test('let server admins restore documents with their states, which are not run again', async () => {
    const { ends } = await pair();
    const id = newId();
    await client.put(`/_replicator/${id}`, ends);
    const { body } = await docState(id, 'completed');
    assert.equal((await client.put(`/_replicator/${id}`, { ...body, note: 1 })).status, 201);
    for (const state of ['completed', 'failed']) {
      const restored = newId();
      const { _rev, ...members } = body;
      const answer = await client.put(`/_replicator/${restored}`, { ...members, _replication_state: state });
      assert.equal(answer.status, 201, `${state} ${_rev}`);
      assert.equal((await client.get(`/_scheduler/docs/_replicator/${restored}`)).body.state, state);
      assert.equal((await client.get(`/_replicator/${restored}`)).body._rev, answer.body.rev);
    }
  });

  test('let admins write any name and roles into `user_ctx`', async () => {
    for (const user_ctx of [{ name: 5 }, { name: '' }, { roles: 'x' }, { name: 'a', roles: [5] }, {}]) {
      const id = newId();
      const { status, text } = await client.put(`/_replicator/${id}`, { ...good, user_ctx });
      assert.equal(status, 201, text);
      const { _rev } = (await client.get(`/_replicator/${id}`)).body as { _rev: string };
      await client.delete(`/_replicator/${id}?rev=${_rev}`);
    }
  });

  test('let copies of documents bring their states', async () => {
    const copy = { _id: 'copied', _rev: `3-${'a'.repeat(32)}`, ...good, _replication_state: 'completed' };
    const answer = await client.post('/_replicator/_bulk_docs', { docs: [copy], new_edits: false });
    assert.deepEqual(answer.body, []);
    assert.equal((await client.get('/_scheduler/docs/_replicator/copied')).body.state, 'completed');
  });

  test('a bulk request with one document that no replication could be made of is refused as a whole', async () => {
    const bulkGood = { _id: 'bulk-good', ...good, owner: null };
    for (const docs of [
      [{ _id: 'bulk-bad' }, bulkGood],
      [bulkGood, { _id: 'bulk-bad', source: 'http://host/a' }],
      [bulkGood, { _id: 'bulk-bad', _rev: '7-a' }],
    ]) {
      const answer = await client.post('/_replicator/_bulk_docs', { docs });
      assertRefused(answer, 403, 'forbidden');
      assert.equal((await client.get('/_replicator/bulk-good')).status, 404);
    }
    const illegal = await client.post('/_replicator/_bulk_docs', {
      docs: [{ _id: 'bulk-bad' }, { _id: '_x' }],
    });
    assertRefused(illegal, 400, 'illegal_docid');
    const deleted = { _id: 'bulk-bad', _deleted: true };
    const { status, body } = await client.post('/_replicator/_bulk_docs', { docs: [bulkGood, deleted] });
    assert.equal(status, 201);
    assert.deepEqual([body[0].ok, body[1].ok], [true, true]);
    assert.equal((await client.get('/_replicator/bulk-good')).body.owner, 'admin');
    await client.delete(`/_replicator/bulk-good?rev=${body[0].rev}`);
  });

  test('a large bulk request is refused as a whole too', async () => {
    const note = 'x'.repeat(1024 * 1024);
    const large = Array.from({ length: 9 }, (_, i) => ({ _id: `bulk-large-${i}`, ...good, note }));
    const docs = [...large, { _id: 'bulk-bad' }];
    assertRefused(await client.post('/_replicator/_bulk_docs', { docs }), 403, 'forbidden');
    for (const { _id } of large) assert.equal((await client.get(`/_replicator/${_id}`)).status, 404);
  });

  test('replicated documents are refused one by one', async () => {
    const _rev = '1-abc';
    const docs = [
      { _id: 'copied-bad', _rev },
      { _id: 'copied-good', _rev, ...good },
    ];
    const { status, body } = await client.post('/_replicator/_bulk_docs', { docs, new_edits: false });
    assert.equal(status, 201);
    assert.deepEqual(
      body.map(({ id, error }: { id: string; error: string }) => [id, error]),
      [['copied-bad', 'forbidden']],
    );
    assert.equal((await client.get('/_replicator/copied-good')).status, 200);
  });

  test('leave design documents and local documents alone', async () => {
    assert.equal((await client.put('/_replicator/_design/d', { views: {} })).status, 201);
    assert.equal((await client.put('/_replicator/_local/l', {})).status, 201);
  });
});

describe('a restart', () => {
  test('takes up replications where they were', async () => {
    const dataDir = temporaryFolder();
    const options = { dataDir, admins: { admin: 'secret' }, port: 0, logLevel: 'none' as const, config };
    let server = await createServer(options);
    let at = new Client(server.url);
    for (const db of ['/_replicator', '/from', '/to']) await at.put(db);
    const other = await newDb(client);
    const ends = { source: addressOf(client, other), target: 'http://never:x@127.0.0.1:1/to' };
    await at.put('/_replicator/done', {
      ...ends,
      _id: 'done',
      target: addressOf(client, await newDb(client)),
    });
    await until(
      () => at.get('/_replicator/done'),
      ({ body }) => body._replication_state === 'completed',
    );
    await at.put('/_replicator/crashing', { ...ends, continuous: true });
    await schedulerState('crashing', 'crashing', '_replicator', at);
    const target = await newDb(client);
    await at.put('/_replicator/running', {
      source: addressOf(client, other),
      target: addressOf(client, target),
      continuous: true,
    });
    await schedulerState('running', 'running', '_replicator', at);
    await server.close();

    server = await createServer(options);
    at = new Client(server.url);
    await schedulerState('running', 'running', '_replicator', at);
    await schedulerState('crashing', 'crashing', '_replicator', at);
    assert.equal((await at.get('/_scheduler/docs/_replicator/done')).body.state, 'completed');
    await client.put(`${other}/new`, {});
    await until(
      () => client.get(`${target}/new`),
      ({ status }) => status === 200,
    );
    const { jobs } = (await at.get('/_scheduler/jobs')).body as { jobs: { doc_id: string }[] };
    assert.deepEqual(jobs.map(({ doc_id }) => doc_id).sort(), ['crashing', 'running']);
    await server.close();
  });
});
