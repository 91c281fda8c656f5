import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import type { HttpClient } from '../support/http-client.js';
import { newDb, startServer } from '../support/server.js';

const client: HttpClient = await startServer();
const db = await newDb(client);
const put = async (id: string, doc: object = {}): Promise<string> =>
  (await client.put(`${db}/${id}`, doc)).body.rev as string;

describe('Purge', () => {
  test('the last branch: the document is gone without a trace, and purge_seq and update_seq grow', async () => {
    const rev = await put('one');
    const before = (await client.get(db)).body;
    const answer = await client.post(`${db}/_purge`, { one: [rev] });
    assertOk(answer, 201);
    assert.deepEqual(answer.body.purged, { one: { purged: [rev] } });
    assert.ok(answer.body.purge_seq === null || typeof answer.body.purge_seq === 'string');
    const gone = await client.get(`${db}/one`);
    assertRefused(gone, 404, 'not_found');
    assert.equal(gone.body.reason, 'missing');
    const after = (await client.get(db)).body;
    assert.ok(after.purge_seq > before.purge_seq);
    assert.notEqual(after.update_seq, before.update_seq);
    assert.equal(after.doc_count, before.doc_count - 1);
    assert.deepEqual((await client.post(`${db}/_all_docs`, { keys: ['one'] })).body.rows, [
      { key: 'one', error: 'not_found' },
    ]);
  });

  test('a deleted document is purged too', async () => {
    const rev = await put('dead');
    const last = (await client.delete(`${db}/dead?rev=${rev}`)).body.rev;
    const { body } = await client.post(`${db}/_purge`, { dead: [last] });
    assert.deepEqual(body.purged, { dead: { purged: [last] } });
    assert.equal((await client.get(`${db}/dead`)).body.reason, 'missing');
  });

  test('one of two branches: the other remains', async () => {
    const docs = [
      { _id: 'two', _rev: '1-a', n: 'a' },
      { _id: 'two', _rev: '1-b', n: 'b' },
    ];
    await client.post(`${db}/_bulk_docs`, { docs, new_edits: false });
    await client.post(`${db}/_purge`, { two: ['1-b'] });
    const { body } = await client.get(`${db}/two?conflicts=true`);
    assert.deepEqual(body, { _id: 'two', _rev: '1-a', n: 'a' });
  });

  test('a revision that is no leaf, is purged already or never was is ignored', async () => {
    const first = await put('leaf');
    const second = await put('leaf', { _rev: first });
    const ignored = await client.post(`${db}/_purge`, { leaf: [first, '9-abc'], never: ['1-abc'] });
    assertOk(ignored, 201);
    assert.deepEqual(ignored.body.purged, { leaf: { purged: [] }, never: { purged: [] } });
    assert.equal((await client.get(`${db}/leaf`)).body._rev, second);
    await client.post(`${db}/_purge`, { leaf: [second] });
    const again = await client.post(`${db}/_purge`, { leaf: [second] });
    assert.deepEqual(again.body.purged, { leaf: { purged: [] } });
  });

  test('_purged_infos has what was asked for, also what was not there', async () => {
    const own = await newDb(client, '?q=1');
    const { rev } = (await client.put(`${own}/a`, {})).body;
    await client.post(`${own}/_purge`, { a: [rev, '1-x'], none: ['1-y'] });
    const { purged_infos: infos } = (await client.get(`${own}/_purged_infos`)).body;
    assert.deepEqual(infos, [
      { id: 'a', revs: [rev, '1-x'] },
      { id: 'none', revs: ['1-y'] },
    ]);
    await client.put(`${own}/_design/d`, { views: { v: { map: 'function (doc) { emit(doc._id); }' } } });
    await client.put(`${own}/b`, {});
    assert.equal((await client.get(`${own}/_design/d/_view/v`)).body.rows.length, 1);
    await client.post(`${own}/_purge`, { b: ['1-y'] });
    assert.equal((await client.get(`${own}/_design/d/_view/v`)).body.rows.length, 1);
  });

  test('a purged document may be made again, from the first revision', async () => {
    const rev = await put('anew', { n: 1 });
    await client.post(`${db}/_purge`, { anew: [rev] });
    assert.equal(await put('anew', { n: 1 }), rev);
  });

  test('wrong bodies are refused with 400', async () => {
    for (const body of [[], 'x', 1, { a: 'x' }, { a: [1] }, { a: ['x'] }, { a: {} }]) {
      assertRefused(await client.post(`${db}/_purge`, body), 400);
    }
  });
});

describe('Looking up revisions', () => {
  test('_revs_diff tells what is missing and what might be its ancestors', async () => {
    const first = await put('diff');
    const second = await put('diff', { _rev: first });
    const answer = await client.post(`${db}/_revs_diff`, {
      diff: [first, second, '3-abc', '1-def'],
      unknown: ['1-abc'],
      whole: [],
    });
    assertOk(answer, 200);
    assert.deepEqual(answer.body.unknown, { missing: ['1-abc'] });
    assert.deepEqual([...answer.body.diff.missing].sort(), ['1-def', '3-abc']);
    assert.deepEqual(answer.body.diff.possible_ancestors, [second]);
    assert.equal(answer.body.whole, undefined);
  });

  test('_revs_diff says nothing of documents that have all their revisions', async () => {
    const rev = await put('had');
    assert.deepEqual((await client.post(`${db}/_revs_diff`, { had: [rev] })).body, {});
  });

  test('_missing_revs tells what is missing under the key missing_revs', async () => {
    const rev = await put('missing');
    const answer = await client.post(`${db}/_missing_revs`, {
      missing: [rev, '2-abc'],
      unknown: ['1-abc'],
    });
    assertOk(answer, 200);
    assert.deepEqual(answer.body, { missing_revs: { missing: ['2-abc'], unknown: ['1-abc'] } });
  });

  test('wrong bodies are refused with 400', async () => {
    for (const path of ['_revs_diff', '_missing_revs']) {
      for (const body of [[], 'x', null, { a: 'x' }, { a: [1] }, { a: ['x'] }, { a: {} }]) {
        assertRefused(await client.post(`${db}/${path}`, body), 400);
      }
    }
  });
});

describe('Limits of a database', () => {
  for (const [path, standard] of [
    ['_revs_limit', 1000],
    ['_purged_infos_limit', 1000],
  ] as const) {
    test(`${path} is ${standard} until it is set to another integer`, async () => {
      const home = await newDb(client);
      const first = await client.get(`${home}/${path}`);
      assertOk(first, 200);
      assert.equal(first.body, standard);
      const set = await client.put(`${home}/${path}`, 7);
      assertOk(set, 200);
      assert.deepEqual(set.body, { ok: true });
      assert.equal((await client.get(`${home}/${path}`)).body, 7);
    });

    test(`${path} takes nothing but positive integers`, async () => {
      const home = await newDb(client);
      for (const value of [0, -1, 1.5, 'x', '5', null, [], {}, true]) {
        assertRefused(await client.put(`${home}/${path}`, value), 400);
      }
      assert.equal((await client.get(`${home}/${path}`)).body, standard);
    });
  }

  test('no more revisions are tracked than _revs_limit says', async () => {
    const home = await newDb(client);
    await client.put(`${home}/_revs_limit`, 3);
    let rev: string | undefined;
    for (let n = 1; n <= 6; n++) {
      const doc = rev === undefined ? { n } : { _rev: rev, n };
      rev = (await client.put(`${home}/a`, doc)).body.rev;
    }
    const { body } = await client.get(`${home}/a?revs=true`);
    assert.equal(body._revisions.start, 6);
    assert.equal(body._revisions.ids.length, 3);
  });
});

test('limits are whole numbers that are written as such', async () => {
  const home = await newDb(client);
  for (const name of ['_revs_limit', '_purged_infos_limit']) {
    for (const raw of ['3.0', '1e1', '"3"', '0'])
      assertRefused(await client.send('PUT', `${home}/${name}`, { raw }), 400, 'bad_request');
    assertOk(await client.send('PUT', `${home}/${name}`, { raw: ' 7\n' }), 200);
    assert.equal((await client.get(`${home}/${name}`)).body, 7);
  }
});
