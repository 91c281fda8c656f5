import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createServer } from '../../src/server/create-server.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const client = await startServer({ dataDir: temporaryFolder() });
const config = '/_node/_local/_config';

describe('The configuration', () => {
  test('is an object of sections, each an object of strings', async () => {
    const answer = await client.get(config);
    assertOk(answer, 200);
    for (const section of ['chttpd', 'log', 'uuids']) {
      assert.equal(typeof answer.body[section], 'object', section);
    }
    for (const section of Object.values<Record<string, unknown>>(answer.body)) {
      for (const value of Object.values(section)) assert.equal(typeof value, 'string');
    }
  });

  test('a section and a value are read by their path', async () => {
    await client.put(`${config}/mine/a`, 'x');
    await client.put(`${config}/mine/b`, 'y');
    const section = await client.get(`${config}/mine`);
    assertOk(section, 200);
    assert.deepEqual(section.body, { a: 'x', b: 'y' });
    const value = await client.get(`${config}/mine/a`);
    assertOk(value, 200);
    assert.equal(value.body, 'x');
    assert.deepEqual((await client.get(config)).body.mine, { a: 'x', b: 'y' });
  });

  test('PUT answers with the old value, DELETE with the value before deletion', async () => {
    assert.equal((await client.put(`${config}/old/key`, 'one')).body, '');
    assert.equal((await client.put(`${config}/old/key`, 'two')).body, 'one');
    assert.equal((await client.delete(`${config}/old/key`)).body, 'two');
    assertRefused(await client.get(`${config}/old/key`), 404, 'not_found');
    assertRefused(await client.delete(`${config}/old/key`), 404, 'not_found');
  });

  test('a value must be a JSON string', async () => {
    for (const raw of ['x', '1', 'null', '[]', '{}', '', '"open']) {
      assertRefused(await client.send('PUT', `${config}/mine/bad`, { raw }), 400);
    }
  });

  test('the name of the node stands for _local', async () => {
    const [node] = (await client.get('/_membership')).body.all_nodes;
    assert.deepEqual(
      (await client.get(`/_node/${node}/_config/log`)).body,
      (await client.get(`${config}/log`)).body,
    );
    assertRefused(await client.get('/_node/nobody@nowhere/_config'), 404);
  });

  test('the algorithm of ids is changed at once', async () => {
    const prefixes = async (): Promise<Set<string>> => {
      const { uuids } = (await client.get('/_uuids?count=10')).body;
      return new Set((uuids as string[]).map((id) => id.slice(0, 8)));
    };
    assert.ok((await prefixes()).size <= 2);
    assertOk(await client.put(`${config}/uuids/algorithm`, 'random'), 200);
    assert.equal((await prefixes()).size, 10);
    const db = await newDb(client);
    const made = [await client.post(db, {}), await client.post(db, {})];
    assert.notEqual(made[0]!.body.id.slice(0, 8), made[1]!.body.id.slice(0, 8));
    await client.delete(`${config}/uuids/algorithm`);
    assert.ok((await prefixes()).size <= 2);
  });

  test('_reload keeps what is on disk and discards what is only in memory', async () => {
    await client.put(`${config}/reload/kept`, 'disk');
    await client.put(`${config}/reload/lost`, 'memory', { 'x-svc-persist': 'false' });
    assert.equal((await client.get(`${config}/reload/lost`)).body, 'memory');
    const answer = await client.post(`${config}/_reload`);
    assertOk(answer, 200);
    assert.deepEqual(answer.body, { ok: true });
    assert.deepEqual((await client.get(`${config}/reload`)).body, { kept: 'disk' });
  });
});

describe('Server admins', () => {
  test('the section admins shows names and hashes, never a password', async () => {
    const answer = await client.get(`${config}/admins`);
    assertOk(answer, 200);
    assert.match(answer.body.admin, /^-pbkdf2-[0-9a-f]+,[0-9a-f]+,\d+$/);
  });

  test('a new admin may act at once, and no more once deleted', async () => {
    const bob = client.as('bob:builder');
    assertRefused(await bob.get('/_active_tasks'), 401);
    const made = await client.put(`${config}/admins/bob`, 'builder');
    assertOk(made, 200);
    assert.equal(typeof made.body, 'string');
    assertOk(await bob.get('/_active_tasks'), 200);
    assertOk(await client.put(`${config}/admins/bob`, 'changed'), 200);
    assertRefused(await bob.get('/_active_tasks'), 401);
    assertOk(await client.as('bob:changed').get('/_active_tasks'), 200);
    const deleted = await client.delete(`${config}/admins/bob`);
    assertOk(deleted, 200);
    assert.match(deleted.body, /^-pbkdf2-/);
    assertRefused(await client.as('bob:changed').get('/_active_tasks'), 401);
  });

  test('raw=true stores a ready hash unchanged', async () => {
    await client.put(`${config}/admins/first`, 'same');
    const hash = (await client.get(`${config}/admins/first`)).body as string;
    assertOk(await client.put(`${config}/admins/second?raw=true`, hash), 200);
    assert.equal((await client.get(`${config}/admins/second`)).body, hash);
    assertOk(await client.as('second:same').get('/_active_tasks'), 200);
  });

  test('a server without an admin does not start', async () => {
    await assert.rejects(createServer({ inMemory: true, port: 0 }), /admin/);
  });
});

describe('Demanding a login', () => {
  for (const option of ['require_valid_user', 'require_valid_user_except_for_up']) {
    test(`${option} refuses anonymous requests${option.endsWith('up') ? ' except to /_up' : ''}`, async () => {
      const db = await newDb(client);
      assertOk(await client.anonymous.get(db), 200);
      await client.put(`${config}/chttpd/${option}`, 'true');
      const anonymous = await client.anonymous.get(db);
      const up = await client.anonymous.get('/_up');
      const known = await client.get(db);
      await client.delete(`${config}/chttpd/${option}`);
      assertRefused(anonymous, 401, 'unauthorized');
      assertOk(up, option.endsWith('up') ? 200 : 401);
      assertOk(known, 200);
      assertOk(await client.anonymous.get(db), 200);
    });
  }
});
