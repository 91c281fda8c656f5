import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { createLogger } from '../../src/base/logger.js';
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

  test('all of it is for server admins', async () => {
    await client.put(`${config}/mine/a`, 'x');
    for (const anybody of [client.anonymous, client.as('_:_')]) {
      for (const path of ['', '/mine', '/mine/a', '/admins']) {
        assertRefused(await anybody.get(config + path), 401, 'unauthorized');
      }
      assertRefused(await anybody.put(`${config}/mine/a`, 'y'), 401, 'unauthorized');
      assertRefused(await anybody.put(`${config}/admins/eve`, 'y'), 401, 'unauthorized');
      assertRefused(await anybody.delete(`${config}/mine/a`), 401, 'unauthorized');
      assertRefused(await anybody.post(`${config}/_reload`), 401, 'unauthorized');
    }
    assert.equal((await client.get(`${config}/mine/a`)).body, 'x');
  });

  test('values are trimmed, and old values are those before the change, defaults too', async () => {
    assert.equal((await client.put(`${config}/old/trimmed`, '  a  ')).body, '');
    assert.equal((await client.put(`${config}/old/trimmed`, 'b')).body, 'a');
    assert.equal((await client.put(`${config}/uuids/max_count`, '7')).body, '1000');
    assertRefused(await client.get('/_uuids?count=8'), 400);
    assert.equal((await client.delete(`${config}/uuids/max_count`)).body, '7');
    assert.equal((await client.get(`${config}/uuids/max_count`)).body, '1000');
    assertOk(await client.get('/_uuids?count=8'), 200);
  });

  test('a change takes effect at once: limits, log level, login', async () => {
    const db = await newDb(client);
    await client.put(`${config}/couchdb/max_document_size`, '50');
    assertRefused(await client.put(`${db}/a`, { text: 'x'.repeat(100) }), 413);
    await client.delete(`${config}/couchdb/max_document_size`);
    assertOk(await client.put(`${db}/a`, { text: 'x'.repeat(100) }), 201);
    for (const level of ['debug', 'none']) assertOk(await client.put(`${config}/log/level`, level), 200);
    assertRefused(await client.put(`${config}/log/level`, 'loud'), 400);
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

  test('ids by time and at random have the forms of RFC 9562', async () => {
    const made = async (algorithm: string, format: string): Promise<string[]> => {
      assertOk(await client.put(`${config}/uuids/algorithm`, algorithm), 200);
      assertOk(await client.put(`${config}/uuids/format`, format), 200);
      return (await client.get('/_uuids?count=20')).body.uuids as string[];
    };
    const before = Date.now();
    for (const id of await made('uuid_v7', 'base_16')) {
      assert.match(id, /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
      const time = parseInt(id.slice(0, 12), 16);
      assert.ok(time >= before && time <= Date.now());
    }
    for (const id of await made('uuid_v4', 'rfc9562'))
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const short = await made('uuid_v7', 'base_36');
    for (const id of short) assert.match(id, /^[0-9a-z]{25}$/);
    assert.equal(new Set(short).size, 20);
    assertRefused(await client.put(`${config}/uuids/format`, 'base_64'), 400);
    await client.delete(`${config}/uuids/algorithm`);
    await client.delete(`${config}/uuids/format`);
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

describe('A hand-written file', () => {
  test('keeps its comments, and _reload reads what was changed in it', async () => {
    const folder = temporaryFolder();
    const file = path.join(folder, 'local.ini');
    const text = '; mine\n[mine]\na = 1 ; one\n\n[couch_httpd_auth]\ntimeout = 600\n';
    fs.writeFileSync(file, text);
    const own = await startServer({ dataDir: folder });
    assert.equal((await own.put(`${config}/mine/a`, '2')).body, '1');
    assert.equal(fs.readFileSync(file, 'utf8'), text);
    assert.match(fs.readFileSync(path.join(folder, 'config-api.ini'), 'utf8'), /\[mine\]\na = 2/);
    fs.writeFileSync(file, text.replace('a = 1', 'b = 3'));
    await own.put(`${config}/mine/c`, 'memory', { 'x-couch-persist': 'false' });
    assertOk(await own.post(`${config}/_reload`), 200);
    assert.deepEqual((await own.get(`${config}/mine`)).body, { a: '2', b: '3' });
    fs.rmSync(file);
    fs.mkdirSync(file);
    const refused = await own.post(`${config}/_reload`);
    assertRefused(refused, 500);
    assert.match(refused.body.reason, /local\.ini can't be read/);
    assert.deepEqual((await own.get(`${config}/mine`)).body, { a: '2', b: '3' });
  });
});

test('The data folder is shown as couchdb/database_dir', async () => {
  const folder = temporaryFolder();
  const own = await startServer({ dataDir: folder });
  assert.equal((await own.get(`${config}/couchdb/database_dir`)).body, folder);
  assert.equal((await own.get(`${config}/couchdb`)).body.database_dir, folder);
  assert.equal((await own.get(config)).body.couchdb.database_dir, folder);
});

describe('What could harm the machine', () => {
  const closed = [
    'query_servers/javascript',
    'native_query_servers/erlang',
    'os_daemons/evil',
    'external/evil',
    'daemons/evil',
    'httpd_global_handlers/_evil',
    'httpd_db_handlers/_evil',
    'httpd_design_handlers/_evil',
    'feature_flags/x',
    'ssl/cert_file',
    'ssl/key_file',
    'ssl/cacert_file',
    'log/file',
    'log/writer',
    'couchdb/database_dir',
    'couchdb/view_index_dir',
    'couchdb/uri_file',
    'couchdb/util_driver_dir',
    'couchdb/plugin_dir',
    'replicator/cert_file',
    'replicator/key_file',
    'replicator/ssl_trusted_certificates_file',
  ];
  test('is not changed over HTTP by anybody, in any spelling, kept or not', async () => {
    for (const name of closed) {
      const [section = '', key = ''] = name.split('/');
      const spelled = [...section].map((each) => `%${each.charCodeAt(0).toString(16)}`).join('');
      for (const path of [name, `${spelled}/${key}`, `/${section}//${key}/`]) {
        for (const persist of ['true', 'false']) {
          const headers = { 'x-couch-persist': persist };
          assertRefused(await client.put(`${config}/${path}`, '/tmp/evil', headers), 403, 'forbidden');
          assertRefused(await client.delete(`${config}/${path}`, headers), 403, 'forbidden');
        }
      }
      assert.notEqual((await client.get(`${config}/${name}`)).body, '/tmp/evil');
    }
  });

  test('cannot be written under names that a file would read as another', async () => {
    const names = [
      ['query_servers%20', 'x'],
      ['%20query_servers', 'x'],
      ['a%5D%0A%5Bquery_servers', 'x'],
      ['a', 'k%0A%5Bquery_servers%5D%0Ajavascript'],
      ['a', 'k%3D1%0Ab'],
      ['', 'x'],
    ];
    for (const [section, key] of names) {
      const answer = await client.put(`${config}/${section}/${key}`, 'evil');
      assert.ok([400, 403, 404, 405].includes(answer.status), `${section}/${key}: ${answer.status}`);
    }
    await client.put(`${config}/a/k`, 'v ;[query_servers]');
    assertOk(await client.post(`${config}/_reload`), 200);
    assert.deepEqual((await client.get(`${config}/query_servers`)).body, {});
  });
});

describe('Secrets', () => {
  test('are not in the log, whoever sets them', async () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const logger = createLogger({ level: 'info', format: 'json', destination });
    const own = await startServer({ dataDir: temporaryFolder(), logger });
    await own.put(`${config}/admins/bob`, 'hunter2hunter2');
    await own.put(`${config}/chttpd_auth/secret`, 'hunter2hunter2');
    await own.put(`${config}/jwt_keys/hmac:x`, 'aHVudGVyMmh1bnRlcjI=');
    await own.as('bob:hunter2hunter2').get('/_all_dbs?password=hunter2hunter2');
    await own.as('bob:wrong-hunter2').get('/');
    await own.get('http://bob:hunter2hunter2@x/_up');
    await own.get('bob:hunter2hunter2@x');
    await own.post(`${config}/_reload`);
    const all = lines.join('');
    assert.match(all, /an option was changed/);
    assert.match(all, /http:\/\/x\/_up/);
    assert.doesNotMatch(all, /hunter2|aHVudGVyM|Basic|pbkdf2/);
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
