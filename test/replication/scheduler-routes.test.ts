import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLogger } from '../../src/base/logger.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { addressOf, until } from './scene.js';

const lines: string[] = [];
const logger = createLogger({ level: 'debug', destination: { write: (line) => lines.push(line) } });
const client = await startServer({
  dataDir: temporaryFolder(),
  logger,
  config: { chttpd_auth: { iterations: '100' }, replicator: { retries_per_request: '0' } },
});
await client.put('/_replicator');
const from = await newDb(client);
await client.put(`${from}/a`, {});
const source = addressOf(client, from);
const secrets = ['secret', 'hush', basicOf('admin:secret'), basicOf('me:hush')];

function basicOf(login: string): string {
  return Buffer.from(login).toString('base64');
}

describe('the jobs of the scheduler', () => {
  test('are listed with all that CouchDB shows of them', async () => {
    const target = addressOf(client, await newDb(client));
    const begun = await client.post('/_replicate', { source, target, continuous: true });
    const id = begun.body._local_id as string;
    const { body } = await until(
      () => client.get(`/_scheduler/jobs/${encodeURIComponent(id)}`),
      (answer) => answer.body.info?.docs_written === 1,
    );
    assert.deepEqual(Object.keys(body).sort(), [
      ...[
        'database',
        'doc_id',
        'history',
        'id',
        'info',
        'node',
        'pid',
        'source',
        'start_time',
        'target',
        'user',
      ],
    ]);
    assert.deepEqual([body.database, body.doc_id, body.user, body.id], [null, null, 'admin', id]);
    assert.equal(body.source, `${client.url}${from}/`);
    assert.deepEqual(
      body.history.map(({ type }: { type: string }) => type),
      ['started', 'added'],
    );
    assert.match(body.history[0].timestamp, /Z$/);
    for (const count of ['revisions_checked', 'missing_revisions_found', 'docs_read', 'docs_written'])
      assert.equal(body.info[count], 1);
    assert.equal(body.info.doc_write_failures, 0);
    for (const seq of ['source_seq', 'through_seq']) assert.match(body.info[seq], /^1-/);
    const list = (await client.get('/_scheduler/jobs')).body;
    assert.deepEqual([list.total_rows, list.offset, list.jobs.length], [1, 0, 1]);
    assert.deepEqual((await client.get('/_scheduler/jobs?skip=1')).body.jobs, []);
    assert.equal((await client.head('/_scheduler/jobs')).status, 200);
    await client.post('/_replicate', { replication_id: id, cancel: true });
  });

  test('that fail say so, and how often', async () => {
    const request = {
      source: 'http://me:hush@127.0.0.1:1/db',
      target: 'x',
      create_target: true,
      continuous: true,
    };
    const { status, body: begun } = await client.post('/_replicate', request);
    assert.equal(status, 202);
    const path = `/_scheduler/jobs/${encodeURIComponent(begun._local_id)}`;
    const { body } = await until(
      () => client.get(path),
      (answer) => answer.body.history[0].type === 'crashed',
    );
    assert.match(body.history[0].reason, /127\.0\.0\.1:1\/db.*ECONNREFUSED/);
    assert.match(body.info.error, /ECONNREFUSED/);
    await client.post('/_replicate', { id: begun._local_id, cancel: true });
  });
});

describe('the documents of the scheduler', () => {
  test('are listed by database, by state and in pages', async () => {
    for (const id of ['done1', 'done2', 'done3'])
      await client.put(`/_replicator/${id}`, { source, target: addressOf(client, await newDb(client)) });
    await until(
      () => client.get('/_scheduler/docs?states=completed'),
      ({ body }) => body.docs.length === 3,
    );
    await client.put('/_replicator/crashing', { source: 'http://me:hush@127.0.0.1:1/db', target: source });
    await until(
      () => client.get('/_scheduler/docs?states=crashing,failed'),
      ({ body }) => body.docs.length === 1,
    );
    const idsOf = async (query: string): Promise<string[]> =>
      ((await client.get(`/_scheduler/docs${query}`)).body.docs as { doc_id: string }[]).map(
        ({ doc_id }) => doc_id,
      );
    assert.deepEqual(await idsOf(''), ['crashing', 'done1', 'done2', 'done3']);
    assert.deepEqual(await idsOf('/_replicator'), ['crashing', 'done1', 'done2', 'done3']);
    assert.deepEqual(await idsOf('?limit=2&skip=1'), ['done1', 'done2']);
    assert.deepEqual(await idsOf('?states=completed&skip=2'), ['done3']);
    assert.equal((await client.get('/_scheduler/docs?limit=0')).body.total_rows, 4);
    assert.equal((await client.get('/_scheduler/docs/other/_replicator')).status, 404);
  });

  test('that are no such documents are missing', async () => {
    await client.put('/_replicator/_design/d', {});
    for (const path of ['_replicator/none', '_replicator/_design%2Fd', 'none/_replicator/x'])
      assertRefused(await client.get(`/_scheduler/docs/${path}`), 404, 'not_found');
    for (const path of [from.slice(1), '_replicator/_design/d', '_replicator/a/b'])
      assertRefused(await client.get(`/_scheduler/docs/${path}`), 400, 'bad_request');
  });
});

test('the scheduler is for server admins, and answers to GET alone', async () => {
  for (const path of [
    '/_scheduler/jobs',
    '/_scheduler/docs',
    '/_scheduler/docs/_replicator/x',
    '/_scheduler/jobs/x',
  ]) {
    assertRefused(await client.anonymous.get(path), 401, 'unauthorized');
    assertRefused(await client.post(path, {}), 405, 'method_not_allowed');
  }
  for (const path of ['/_scheduler', '/_scheduler/nope'])
    assert.deepEqual((await client.get(path)).body, { error: 'not found' });
  for (const query of ['limit=x', 'skip=1.5', 'skip=-1'])
    assertRefused(await client.get(`/_scheduler/jobs?${query}`), 400, 'query_parse_error');
  for (const states of ['bogus', 'running,%20failed', 'running,'])
    assertRefused(await client.get(`/_scheduler/docs?states=${states}`), 400, 'query_parse_error');
  assertOk(await client.get('/_scheduler/docs?states=Running,FAILED'), 200);
});

test('a replication that is asked for without a body is refused', async () => {
  const headers = { 'content-type': 'application/json' };
  const empty = await client.send('POST', '/_replicate', { raw: '', headers });
  assert.deepEqual([empty.status, empty.body.reason], [400, 'invalid UTF-8 JSON']);
  assertRefused(await client.send('POST', '/_replicate', { headers }), 400, 'bad_request');
});

test('no answer and no line of the log holds a password', async () => {
  const endpoint = {
    url: 'http://127.0.0.1:1/db2',
    headers: { Authorization: `Basic ${basicOf('me:hush')}` },
  };
  await client.put('/_replicator/object', {
    source: endpoint,
    target: source,
    source_proxy: 'http://me:hush@127.0.0.1:1',
  });
  await client.post('/_replicate', { source: endpoint, target: 'x', create_target: true });
  await until(
    () => client.get('/_scheduler/docs/_replicator/object'),
    ({ body }) => body.state === 'crashing',
  );
  for (const path of ['/_scheduler/jobs', '/_scheduler/docs', '/_active_tasks']) {
    const { text } = await client.get(path);
    for (const secret of secrets) assert.ok(!text.includes(secret), `${path}: ${text}`);
  }
  const log = lines.join('');
  assert.ok(log.includes('a replication failed'));
  for (const secret of secrets) assert.ok(!log.includes(secret), secret);
});
