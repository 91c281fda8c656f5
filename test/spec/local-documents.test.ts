import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);

describe('Local documents', () => {
  test('are stored and read like others, with revisions 0-n', async () => {
    const made = await client.put(`${db}/_local/a`, { n: 1 });
    assertOk(made, 201);
    assert.deepEqual([made.body.ok, made.body.id, made.body.rev], [true, '_local/a', '0-1']);
    const read = await client.get(`${db}/_local/a`);
    assertOk(read, 200);
    assert.deepEqual(read.body, { _id: '_local/a', _rev: '0-1', n: 1 });
  });

  test('are updated with their rev', async () => {
    const { rev } = (await client.put(`${db}/_local/u`, {})).body;
    const updated = await client.put(`${db}/_local/u`, { _rev: rev, n: 2 });
    assertOk(updated, 201);
    assert.equal(updated.body.rev, '0-2');
    assert.equal((await client.get(`${db}/_local/u`)).body.n, 2);
  });

  test('have an ETag that changes with what they hold', async () => {
    const first = await client.put(`${db}/_local/tagged`, { n: 1 });
    const tag = String(first.headers['etag']);
    assert.equal((await client.get(`${db}/_local/tagged`)).headers['etag'], tag);
    const same = { 'if-none-match': tag };
    assert.equal((await client.send('GET', `${db}/_local/tagged`, { headers: same })).status, 304);
    const second = await client.put(`${db}/_local/tagged`, { n: 2 });
    assert.equal(second.body.rev, first.body.rev, 'both were written without a revision');
    assert.notEqual(second.headers['etag'], tag);
    for (const path of ['tagged', 'tagged?attachments=true']) {
      const read = await client.send('GET', `${db}/_local/${path}`, { headers: same });
      assertOk(read, 200);
      assert.equal(read.body.n, 2);
      assert.equal(read.headers['etag'], second.headers['etag']);
    }
  });

  test('are deleted', async () => {
    const { rev } = (await client.put(`${db}/_local/d`, {})).body;
    assertOk(await client.delete(`${db}/_local/d?rev=${rev}`), 200);
    assertRefused(await client.get(`${db}/_local/d`), 404, 'not_found');
    assertRefused(await client.delete(`${db}/_local/d`), 404, 'not_found');
  });

  test('are copied to local and to ordinary documents', async () => {
    await client.put(`${db}/_local/source`, { n: 3 });
    assertOk(await client.copy(`${db}/_local/source`, '_local/target'), 201);
    assert.equal((await client.get(`${db}/_local/target`)).body.n, 3);
    assertOk(await client.copy(`${db}/_local/source`, 'ordinary'), 201);
    assert.equal((await client.get(`${db}/ordinary`)).body.n, 3);
  });

  test('HEAD has headers only', async () => {
    await client.put(`${db}/_local/h`, {});
    const answer = await client.head(`${db}/_local/h`);
    assertOk(answer, 200);
    assert.equal(answer.text, '');
    assertOk(await client.head(`${db}/_local/nothing`), 404);
  });

  test('take the history that a replicator sends with its checkpoint', async () => {
    const history = { _rev: '0-1', _revisions: { start: 0, ids: ['1'] } };
    const made = await client.put(`${db}/_local/checkpoint`, { ...history, n: 1 });
    assertOk(made, 201);
    assert.equal(made.body.rev, '0-2');
    const bulk = await client.post(`${db}/_bulk_docs`, { docs: [{ _id: '_local/other', ...history }] });
    assert.deepEqual(bulk.body, [{ ok: true, id: '_local/other', rev: '0-2' }]);
    const alone = await client.put(`${db}/_local/alone`, { _revisions: { start: 0, ids: ['4'] } });
    assert.equal(alone.body.rev, '0-5');
    const begun = await client.put(`${db}/_local/begun`, { _revisions: { start: 0, ids: [] } });
    assert.equal(begun.body.rev, '0-1');
    const longer = await client.put(`${db}/_local/longer`, { _revisions: { start: 0, ids: ['2', '1'] } });
    assert.equal(longer.body.rev, '0-3');
    for (const _revisions of [{ start: 1, ids: ['1'] }, { start: 0, ids: ['abc'] }, 'nonsense'])
      assertRefused(await client.put(`${db}/_local/refused`, { _revisions }), 400);
  });

  test('are written in bulk', async () => {
    const { status, body } = await client.post(`${db}/_bulk_docs`, { docs: [{ _id: '_local/bulk', n: 1 }] });
    assert.equal(status, 201);
    assert.deepEqual([body[0].ok, body[0].id, body[0].rev], [true, '_local/bulk', '0-1']);
  });

  test('are not output by _all_docs, not counted, and change no sequence', async () => {
    const home = await newDb(client);
    const before = (await client.get(home)).body;
    await client.put(`${home}/_local/a`, {});
    assert.deepEqual((await client.get(`${home}/_all_docs`)).body.rows, []);
    const info = (await client.get(home)).body;
    assert.deepEqual([info.doc_count, info.update_seq], [0, before.update_seq]);
    assert.equal((await client.get(`${home}/_local_docs`)).body.rows.length, 1);
  });

  test('one that names a revision of another form is refused alone among several', async () => {
    const docs = [{ _id: '_local/wrong', _rev: '1-abc' }, { _id: 'beside' }, { _id: '_local/right' }];
    const saved = await client.post(`${db}/_bulk_docs`, { docs });
    assert.equal(saved.status, 201);
    const [wrong, ...others] = saved.body as { ok?: boolean; id: string; error?: string; reason?: string }[];
    assert.deepEqual(wrong, { id: '_local/wrong', error: 'bad_request', reason: 'Invalid rev format' });
    assert.deepEqual(
      others.map(({ ok }) => ok),
      [true, true],
    );
    const edited = await client.post(`${db}/_bulk_docs`, { docs: docs.slice(0, 1), new_edits: false });
    assert.deepEqual([edited.status, edited.body], [201, [{ ...wrong, rev: '1-abc' }]]);
    assertRefused(await client.put(`${db}/_local/wrong`, { _rev: '1-abc' }), 400, 'bad_request');
    assertRefused(await client.get(`${db}/_local/wrong`), 404, 'not_found');
  });

  test('with new_edits=false the number follows the one that was given, which is needed', async () => {
    const put = await client.put(`${db}/_local/given?new_edits=false`, { _rev: '0-5' });
    assert.equal(put.body.rev, '0-5');
    assert.equal((await client.get(`${db}/_local/given`)).body._rev, '0-6');
    const bulk = { docs: [{ _id: '_local/unnamed' }], new_edits: false };
    assertRefused(await client.post(`${db}/_bulk_docs`, bulk), 400, 'bad_request');
    assertRefused(await client.get(`${db}/_local/unnamed`), 404, 'not_found');
  });

  test('what does not exist is 404', async () => {
    assertRefused(await client.get(`${db}/_local/nothing`), 404, 'not_found');
    assertRefused(await client.copy(`${db}/_local/nothing`, 'x'), 404, 'not_found');
  });
});

describe('Design documents as documents', () => {
  test('are put, read, headed, copied and deleted like others', async () => {
    const ddoc = { views: { v: { map: 'function (doc) { emit(doc._id) }' } } };
    const made = await client.put(`${db}/_design/x`, ddoc);
    assertOk(made, 201);
    assert.equal(made.body.id, '_design/x');
    const read = await client.get(`${db}/_design/x`);
    assert.deepEqual(read.body.views, ddoc.views);
    assert.equal((await client.head(`${db}/_design/x`)).text, '');
    assertOk(await client.copy(`${db}/_design/x`, '_design/y'), 201);
    assert.deepEqual((await client.get(`${db}/_design/y`)).body.views, ddoc.views);
    assertRefused(await client.delete(`${db}/_design/x`), 409, 'conflict');
    assertOk(await client.delete(`${db}/_design/x?rev=${made.body.rev}`), 200);
    assertRefused(await client.get(`${db}/_design/x`), 404);
  });

  test('an older revision is read when it is asked for', async () => {
    const { rev } = (await client.put(`${db}/_design/old`, { n: 1 })).body;
    await client.put(`${db}/_design/old`, { _rev: rev, n: 2 });
    assert.equal((await client.get(`${db}/_design/old`)).body.n, 2);
    assert.equal((await client.get(`${db}/_design/old?rev=${rev}`)).body.n, 1);
  });
});
