/** `POST /_replicate`, the replication result, and replication among the active tasks. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const client = await startServer({ dataDir: temporaryFolder() });
const there = await startServer({ dataDir: temporaryFolder() });
const name = (db: string): string => db.slice(1);

async function pair(): Promise<{ from: string; to: string; request: { source: string; target: string } }> {
  const [from, to] = [await newDb(client), await newDb(client)];
  await client.post(`${from}/_bulk_docs`, {
    docs: [
      { _id: 'a', v: 1 },
      { _id: 'b', v: 2 },
    ],
  });
  return { from, to, request: { source: name(from), target: name(to) } };
}

async function ids(db: string, at = client): Promise<string[]> {
  const { rows } = (await at.get(`${db}/_all_docs`)).body as { rows: { id: string }[] };
  return rows.map(({ id }) => id);
}

const post = (body: unknown) => client.post('/_replicate', body);

describe('the body of POST /_replicate', () => {
  test('source and target: a fully qualified URL', async () => {
    const { from, to } = await pair();
    const answer = await post({
      source: client.urlWithCredentials + from,
      target: client.urlWithCredentials + to,
    });
    assert.equal(answer.status, 200);
    assert.deepEqual(await ids(to), ['a', 'b']);
  });

  test('source and target: an object with url and headers', async () => {
    const { from, to } = await pair();
    const headers = { Authorization: `Basic ${Buffer.from('admin:secret').toString('base64')}` };
    const answer = await post({
      source: { url: client.url + from, headers },
      target: { url: client.url + to, headers },
    });
    assert.equal(answer.status, 200);
    assert.deepEqual(await ids(to), ['a', 'b']);
  });

  test('source and target: a bare database name', async () => {
    const { to, request } = await pair();
    assert.equal((await post(request)).status, 200);
    assert.deepEqual(await ids(to), ['a', 'b']);
  });

  test('continuous and cancel', async () => {
    const { from, to, request } = await pair();
    const begun = await post({ ...request, continuous: true });
    assert.equal(begun.status, 202);
    assert.equal(begun.body.ok, true);
    await client.put(`${from}/c`, {});
    while ((await ids(to)).length < 3);
    const cancelled = await post({ ...request, continuous: true, cancel: true });
    assert.deepEqual([cancelled.status, cancelled.body.ok], [200, true]);
    assertRefused(await post({ ...request, continuous: true, cancel: true }), 404, 'not_found');
  });

  test('create_target and create_target_params', async () => {
    const { request } = await pair();
    const answer = await post({
      ...request,
      target: 'made',
      create_target: true,
      create_target_params: { q: 3, n: 1 },
    });
    assert.equal(answer.status, 200);
    assert.equal((await client.get('/made')).body.cluster.q, 3);
  });

  test('winning_revs_only', async () => {
    const { from, to, request } = await pair();
    await client.post(`${from}/_bulk_docs`, { docs: [{ _id: 'a', _rev: '1-x', v: 0 }], new_edits: false });
    await post({ ...request, winning_revs_only: true });
    assert.equal((await client.get(`${to}/a?conflicts=true`)).body._conflicts, undefined);
  });

  test('doc_ids', async () => {
    const { to, request } = await pair();
    await post({ ...request, doc_ids: ['b'] });
    assert.deepEqual(await ids(to), ['b']);
  });

  test('filter', async () => {
    const { from, to, request } = await pair();
    await client.put(`${from}/_design/d`, { filters: { two: 'function(doc) { return doc.v === 2; }' } });
    assert.equal((await post({ ...request, filter: 'd/two' })).status, 200);
    assert.deepEqual(await ids(to), ['b']);
    const [other] = [await newDb(client)];
    await post({ source: client.urlWithCredentials + from, target: name(other), filter: 'd/two' });
    assert.deepEqual(await ids(other), ['b']);
  });

  test('selector', async () => {
    const { from, to, request } = await pair();
    assert.equal((await post({ ...request, selector: { v: 1 } })).status, 200);
    assert.deepEqual(await ids(to), ['a']);
    const other = await newDb(client);
    await post({ source: client.urlWithCredentials + from, target: name(other), selector: { v: 1 } });
    assert.deepEqual(await ids(other), ['a']);
  });

  test('source_proxy and target_proxy name proxies for http or socks5', async () => {
    const { request } = await pair();
    for (const field of ['source_proxy', 'target_proxy'])
      assertRefused(await post({ ...request, [field]: 'gopher://host' }), 400, 'bad_request');
  });

  test('doc_ids, filter and selector are mutually exclusive', async () => {
    const { request } = await pair();
    for (const body of [
      { doc_ids: ['a'], filter: 'd/f' },
      { doc_ids: ['a'], selector: {} },
      { filter: 'd/f', selector: {} },
    ])
      assertRefused(await post({ ...request, ...body }), 400, 'bad_request');
  });
});

describe('the statuses of POST /_replicate', () => {
  test('400 for what is not JSON', async () => {
    assertRefused(await client.send('POST', '/_replicate', { raw: '{' }), 400, 'bad_request');
  });

  test('401 where no server admin asks', async () => {
    const { request } = await pair();
    assertRefused(await client.anonymous.post('/_replicate', request), 401, 'unauthorized');
  });

  test('404 where source or target is missing, here or there, once or continuously', async () => {
    const { from, to } = await pair();
    for (const continuous of [false, true])
      for (const missing of ['missing', `${there.urlWithCredentials}/missing`]) {
        assertRefused(await post({ source: missing, target: name(to), continuous }), 404, 'db_not_found');
        assertRefused(await post({ source: name(from), target: missing, continuous }), 404, 'db_not_found');
      }
    assert.equal((await client.get('/_scheduler/jobs')).body.total_rows, 0);
  });

  test('404 for the cancelling of an unknown task', async () => {
    const { request } = await pair();
    assertRefused(await post({ ...request, cancel: true }), 404, 'not_found');
    assertRefused(await post({ cancel: true, replication_id: 'x' }), 404, 'not_found');
    for (const source of [1, '', null, { url: 1 }, 'ftp://x']) {
      assertRefused(await post({ ...request, source, cancel: true }), 404, 'not_found');
      assertRefused(await post({ ...request, target: source, cancel: true }), 404, 'not_found');
    }
    for (const since_seq of [{}, true])
      assertRefused(await post({ ...request, since_seq, cancel: true }), 404, 'not_found');
  });

  test('400 for an endpoint without an address, also where it is to be cancelled', async () => {
    const { request } = await pair();
    for (const cancel of [false, true]) {
      for (const endpoint of [{}, { headers: {} }]) {
        assertRefused(await post({ ...request, source: endpoint, cancel }), 400, 'invalid_replication');
        assertRefused(await post({ ...request, target: endpoint, cancel }), 400, 'invalid_replication');
      }
    }
    assertRefused(
      await post({ ...request, since_seq: {}, source: {}, cancel: true }),
      400,
      'invalid_replication',
    );
  });

  test('500 for a specification that is invalid', async () => {
    for (const body of [
      { source: 'a', target: 5 },
      { source: 'a', target: { url: 'x' } },
    ])
      assertRefused(await post(body), 500, 'bad_rep_doc');
    for (const body of [{}, { source: 'a' }, { target: 'a' }]) assertRefused(await post(body), 500, 'error');
    assertRefused(await post({ source: 'a', target: 'b', filter: 'x' }), 500, 'error');
  });
});

test('the replication result has every field, of its type', async () => {
  const { request } = await pair();
  const { body } = await post(request);
  assert.equal(body.ok, true);
  assert.equal(typeof body.replication_id_version, 'number');
  assert.match(body.session_id, /^[0-9a-f]{32}$/);
  assert.equal(body.source_last_seq, 2);
  assert.ok(Array.isArray(body.history));
  const [entry] = body.history as Record<string, unknown>[];
  const counts = {
    doc_write_failures: 0,
    docs_read: 2,
    docs_written: 2,
    bulk_get_attempts: 2,
    bulk_get_docs: 2,
    end_last_seq: 2,
    missing_checked: 2,
    missing_found: 2,
  };
  for (const [field, value] of Object.entries(counts)) assert.equal(entry![field], value, field);
  for (const field of ['start_time', 'end_time'])
    assert.ok(!Number.isNaN(Date.parse(String(entry![field]))), field);
  for (const field of ['session_id', 'start_last_seq', 'recorded_seq']) assert.ok(field in entry!, field);
});

test('a replication among the active tasks has every field, of its type', async () => {
  const { from, request } = await pair();
  await post({ ...request, continuous: true });
  const source = client.urlWithCredentials + from;
  await client.put('/_replicator');
  const target = client.urlWithCredentials + (await newDb(client));
  await client.put('/_replicator/by-document', { source, target, continuous: true });
  let tasks: Record<string, unknown>[] = [];
  while (tasks.filter(({ docs_written }) => docs_written === 2).length < 2) {
    const { body } = await client.get('/_active_tasks');
    tasks = (body as Record<string, unknown>[]).filter(({ type }) => type === 'replication');
  }
  const types: Record<string, string> = {
    type: 'string',
    pid: 'string',
    started_on: 'number',
    updated_on: 'number',
    checkpointed_source_seq: 'any',
    continuous: 'boolean',
    doc_write_failures: 'number',
    bulk_get_attempts: 'number',
    bulk_get_docs: 'number',
    docs_read: 'number',
    docs_written: 'number',
    missing_revisions_found: 'number',
    progress: 'number',
    replication_id: 'string',
    revisions_checked: 'number',
    source: 'string',
    source_seq: 'any',
    target: 'string',
  };
  for (const task of tasks)
    for (const [field, type] of Object.entries(types))
      assert.ok(
        type === 'any' ? field in task : typeof task[field] === type,
        `${field}: ${String(task[field])}`,
      );
  assert.deepEqual(tasks.map(({ doc_id }) => doc_id).sort(), ['by-document', null]);
  assert.ok(!JSON.stringify(tasks).includes('secret'));
});
