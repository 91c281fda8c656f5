import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const nobody = client.anonymous;

describe('The security object', () => {
  test('reads as empty when it was never set', async () => {
    const db = await newDb(client);
    const answer = await client.get(`${db}/_security`);
    assertOk(answer, 200);
    assert.deepEqual(answer.body, {});
  });

  test('comes back as it was set, additional fields and all', async () => {
    const db = await newDb(client);
    const security = {
      admins: { names: ['bob'], roles: ['boss'] },
      members: { names: ['eve'], roles: [] },
      extra: { any: ['thing', 1] },
    };
    const set = await client.put(`${db}/_security`, security);
    assertOk(set, 200);
    assert.deepEqual(set.body, { ok: true });
    const read = await client.get(`${db}/_security`);
    assert.deepEqual(read.body, security);
  });

  test('is replaced without a revision, and by {} is empty again', async () => {
    const db = await newDb(client);
    await client.put(`${db}/_security`, { members: { names: ['eve'] } });
    assertOk(await client.put(`${db}/_security`, {}), 200);
    assert.deepEqual((await client.get(`${db}/_security`)).body, {});
  });

  test('is refused with 400 where its members have other types', async () => {
    const db = await newDb(client);
    const wrong = [
      [],
      'x',
      null,
      { admins: [] },
      { members: 'x' },
      { admins: { names: 'bob' } },
      { members: { roles: [1] } },
    ];
    for (const security of wrong) assertRefused(await client.put(`${db}/_security`, security), 400);
    assert.deepEqual((await client.get(`${db}/_security`)).body, {});
  });
});

describe('Rights', () => {
  test('4: without members anybody may read and write ordinary documents', async () => {
    const db = await newDb(client);
    for (const security of [{}, { members: {} }, { members: { names: [], roles: [] } }]) {
      await client.put(`${db}/_security`, security);
      const made = await nobody.post(db, { n: 1 });
      assertOk(made, 201);
      const path = `${db}/${made.body.id}`;
      assertOk(await nobody.get(path), 200);
      assertOk(await nobody.get(db), 200);
      assertOk(await nobody.get(`${db}/_all_docs`), 200);
      assertOk(await nobody.get(`${db}/_security`), 200);
      assertOk(await nobody.put(path, { _rev: made.body.rev }), 201);
      assertOk(await nobody.post(`${db}/_bulk_docs`, { docs: [{}] }), 201);
      assertOk(await nobody.put(`${db}/_local/x`, {}), 201);
    }
  });

  test('1 and 3: only a server admin may change design documents of a database without admins', async () => {
    const db = await newDb(client);
    assertRefused(await nobody.put(`${db}/_design/x`, {}), 401);
    assertRefused(await nobody.post(db, { _id: '_design/x' }), 401);
    const bulk = await nobody.post(`${db}/_bulk_docs`, { docs: [{ _id: '_design/x' }, { _id: 'plain' }] });
    assert.equal(bulk.body[0].error, 'unauthorized');
    assert.equal(bulk.body[1].ok, true);
    assertRefused(await nobody.copy(`${db}/plain`, '_design/x'), 401);
    assertRefused(await client.get(`${db}/_design/x`), 404);
    const made = await client.put(`${db}/_design/x`, {});
    assertOk(made, 201);
    assertOk(await nobody.get(`${db}/_design/x`), 200);
    assertRefused(await nobody.delete(`${db}/_design/x?rev=${made.body.rev}`), 401);
    assertOk(await client.delete(`${db}/_design/x?rev=${made.body.rev}`), 200);
  });

  test('3: only a server admin makes admin-level changes to a database without admins', async () => {
    const db = await newDb(client);
    assertRefused(await nobody.put(`${db}/_security`, {}), 401);
    assertRefused(await nobody.put(`${db}/_revs_limit`, 5), 401);
    assertRefused(await nobody.put(`${db}/_purged_infos_limit`, 5), 401);
    assertRefused(await nobody.post(`${db}/_compact`), 401);
    assertRefused(await nobody.post(`${db}/_purge`, { a: ['1-a'] }), 401);
    assertOk(await client.put(`${db}/_revs_limit`, 5), 200);
    assertOk(await client.put(`${db}/_security`, {}), 200);
  });

  test('2: nobody but a server admin creates or deletes a database', async () => {
    const db = await newDb(client);
    assertRefused(await nobody.put('/rights-new'), 401);
    assertRefused(await nobody.delete(db), 401);
    assertOk(await client.delete(db), 200);
  });

  for (const members of [{ names: ['eve'] }, { roles: ['readers'] }]) {
    test(`5: with members ${JSON.stringify(members)} strangers may not even read`, async () => {
      const db = await newDb(client);
      const { rev } = (await client.put(`${db}/a`, {})).body;
      await client.put(`${db}/_local/a`, {});
      await client.put(`${db}/_security`, { members });
      const requests: [method: string, path: string, json?: unknown][] = [
        ['GET', ''],
        ['POST', '', {}],
        ['GET', '/a'],
        ['PUT', '/b', {}],
        ['DELETE', `/a?rev=${rev}`],
        ['COPY', '/a'],
        ['GET', '/_local/a'],
        ['GET', '/_all_docs'],
        ['POST', '/_all_docs', { keys: ['a'] }],
        ['GET', '/_design_docs'],
        ['GET', '/_local_docs'],
        ['POST', '/_all_docs/queries', { queries: [{}] }],
        ['POST', '/_bulk_get', { docs: [{ id: 'a' }] }],
        ['POST', '/_bulk_docs', { docs: [{}] }],
        ['POST', '/_revs_diff', { a: [rev] }],
        ['POST', '/_missing_revs', { a: [rev] }],
        ['GET', '/_security'],
        ['GET', '/_revs_limit'],
        ['GET', '/_purged_infos_limit'],
        ['GET', '/_shards'],
        ['GET', '/_shards/a'],
        ['POST', '/_ensure_full_commit'],
      ];
      for (const [method, path, json] of requests) {
        const answer = await nobody.send(method, db + path, { json, headers: { destination: 'c' } });
        assertRefused(answer, 401, 'unauthorized');
      }
      assertOk(await nobody.head(db), 401);
      assertOk(await client.get(db), 200);
      assertOk(await client.get(`${db}/a`), 200);
    });
  }
});
