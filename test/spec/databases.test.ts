import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused, assertTypes } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

describe('Database information', () => {
  test('GET /{db} has each member of its type', async () => {
    const db = await newDb(client);
    const answer = await client.get(db);
    assertOk(answer, 200);
    assertTypes(answer.body, {
      db_name: 'string',
      'cluster.n': 'number',
      'cluster.q': 'number',
      'cluster.r': 'number',
      'cluster.w': 'number',
      compact_running: 'boolean',
      disk_format_version: 'number',
      data_size: 'number',
      disk_size: 'number',
      doc_count: 'number',
      doc_del_count: 'number',
      instance_start_time: 'string',
      other: 'object',
      purge_seq: 'number',
      'sizes.active': 'number',
      'sizes.external': 'number',
      'sizes.file': 'number',
      update_seq: 'string',
    });
    assert.equal(answer.body.db_name, db.slice(1));
    assert.equal(answer.body.instance_start_time, '0');
    assert.equal(answer.body.data_size, answer.body.sizes.active);
    assert.equal(answer.body.disk_size, answer.body.sizes.file);
  });

  test('the info member of /_dbs_info is the same object', async () => {
    const db = await newDb(client);
    await client.put(`${db}/a`, { n: 1 });
    const { body } = await client.get(db);
    const listed = await client.post('/_dbs_info', { keys: [db.slice(1)] });
    assert.deepEqual(listed.body, [{ key: db.slice(1), info: body }]);
  });

  test('documents, deleted ones, purges and sizes are counted', async () => {
    const db = await newDb(client);
    const empty = (await client.get(db)).body;
    assert.deepEqual([empty.doc_count, empty.doc_del_count, empty.purge_seq], [0, 0, 0]);
    const revs: string[] = [];
    for (const id of ['a', 'b', 'c']) {
      revs.push((await client.put(`${db}/${id}`, { text: 'x'.repeat(500) })).body.rev);
    }
    await client.delete(`${db}/a?rev=${revs[0]}`);
    await client.post(`${db}/_purge`, { b: [revs[1]] });
    const { body } = await client.get(db);
    assert.deepEqual([body.doc_count, body.doc_del_count, body.purge_seq], [1, 1, 1]);
    assert.ok(body.sizes.active > 500 && body.sizes.external >= 500);
    assert.ok(body.sizes.file >= body.sizes.active);
    assert.notEqual(body.update_seq, empty.update_seq);
  });

  test('local documents are not counted', async () => {
    const db = await newDb(client);
    await client.put(`${db}/_local/a`, {});
    assert.equal((await client.get(db)).body.doc_count, 0);
  });
});

describe('Database name rule', () => {
  const good = ['a', 'z9', 'a_b', 'a$b', 'a(b)', 'a+b', 'a-b', 'a/b', 'abc/def/ghi', 'a_$()+-/0'];
  for (const name of good) {
    test(`${name} is a name`, async () => {
      const path = `/${encodeURIComponent(name)}`;
      assertOk(await client.put(path), 201);
      assert.equal((await client.get(path)).body.db_name, name);
      assert.ok((await client.get('/_all_dbs')).body.includes(name));
      assertOk(await client.put(`${path}/doc`, {}), 201);
      assertOk(await client.delete(path), 200);
    });
  }

  const bad = ['A', 'aB', '1a', '_a', '$a', '-a', '+a', 'a b', 'a.b', 'a!b', 'é', 'aé', 'a\nb', 'a,b', 'a:b'];
  for (const name of bad) {
    test(`${JSON.stringify(name)} is none: 400 illegal_database_name`, async () => {
      const answer = await client.put(`/${encodeURIComponent(name)}`);
      assertRefused(answer, 400, 'illegal_database_name');
      assert.ok(answer.body.reason.includes(name), answer.text);
    });
  }
});

describe('Database states', () => {
  test('absent, PUT with a valid unused name: exists', async () => {
    assertRefused(await client.get('/fresh'), 404, 'not_found');
    const answer = await client.put('/fresh');
    assertOk(answer, 201);
    assert.deepEqual(answer.body, { ok: true });
    assert.equal(new URL(answer.headers.location ?? '', client.url).pathname, '/fresh');
    assertOk(await client.head('/fresh'), 200);
    assertOk(await client.get('/fresh'), 200);
  });

  test('exists, PUT again: unchanged, 412 file_exists', async () => {
    const db = await newDb(client);
    await client.put(`${db}/a`, {});
    assertRefused(await client.put(db), 412, 'file_exists');
    assert.equal((await client.get(db)).body.doc_count, 1);
  });

  test('exists, DELETE: absent with all its documents, also after it is made again', async () => {
    const db = await newDb(client);
    await client.put(`${db}/a`, {});
    await client.put(`${db}/_local/a`, {});
    await client.put(`${db}/_security`, { members: { names: ['x'] } });
    const answer = await client.delete(db);
    assertOk(answer, 200);
    assert.deepEqual(answer.body, { ok: true });
    assertRefused(await client.get(db), 404, 'not_found');
    assertRefused(await client.get(`${db}/a`), 404, 'not_found');
    await client.put(db);
    assert.equal((await client.get(db)).body.doc_count, 0);
    assertRefused(await client.get(`${db}/a`), 404, 'not_found');
    assertRefused(await client.get(`${db}/_local/a`), 404, 'not_found');
    assert.deepEqual((await client.get(`${db}/_security`)).body, {});
  });

  test('exists, DELETE with rev: 400, and it stays', async () => {
    const db = await newDb(client);
    assertRefused(await client.delete(`${db}?rev=1-abc`), 400);
    assertOk(await client.get(db), 200);
  });
});

describe('Database endpoints', () => {
  test('HEAD answers 200 with headers only, 404 where there is none', async () => {
    const db = await newDb(client);
    const answer = await client.head(db);
    assertOk(answer, 200);
    assert.equal(answer.text, '');
    assertOk(await client.head('/nowhere'), 404);
  });

  test('q sets the number of shards, 8 without it', async () => {
    assert.equal((await client.get(await newDb(client))).body.cluster.q, 8);
    assert.equal((await client.get(await newDb(client, '?q=3'))).body.cluster.q, 3);
    for (const q of ['0', '-1', 'x', '1.5', '']) {
      assertRefused(await client.put(`/never?q=${q}`), 400);
    }
  });

  test('the configuration may set another default of q', async () => {
    await client.put('/_node/_local/_config/cluster/q', '2');
    const db = await newDb(client);
    await client.delete('/_node/_local/_config/cluster/q');
    assert.equal((await client.get(db)).body.cluster.q, 2);
  });

  test('DELETE of what does not exist is 404, of what is no name 400', async () => {
    assertRefused(await client.delete('/nowhere'), 404, 'not_found');
    assertRefused(await client.delete('/No.Name'), 400, 'illegal_database_name');
  });

  test('POST /{db} makes a document and tells where it is', async () => {
    const db = await newDb(client);
    const named = await client.post(db, { _id: 'x y', n: 1 });
    assertOk(named, 201);
    assert.deepEqual(Object.keys(named.body).sort(), ['id', 'ok', 'rev']);
    assert.equal(named.body.id, 'x y');
    assert.equal(new URL(named.headers.location ?? '', client.url).pathname, `${db}/x%20y`);
    const unnamed = await client.post(db, { n: 2 });
    assertOk(unnamed, 201);
    assert.match(unnamed.body.id, /^[0-9a-f]{32}$/);
    assert.equal((await client.get(`${db}/${unnamed.body.id}`)).body.n, 2);
  });

  test('POST /{db} needs JSON to be named as the type', async () => {
    const db = await newDb(client);
    const answer = await client.post(db, {}, { 'content-type': 'text/plain' });
    assertRefused(answer, 415, 'bad_content_type');
  });
});

test('a database of an unknown engine is not created', async () => {
  const answer = await client.put('/engined?engine=nope');
  assertRefused(answer, 400, 'bad_request');
  assert.equal(answer.body.reason, 'invalid_engine_extension');
  assertOk(await client.put('/engined?engine=couch'), 201);
});
