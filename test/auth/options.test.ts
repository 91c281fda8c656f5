import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { createServer } from '../../src/server/create-server.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { startServer, temporaryFolder } from '../support/server.js';
import { addUser, resetOption, setOption, userDoc, userPath, whoAmI } from '../support/users.js';

const admin = await startServer();
const optionPath = (name: string): string => `/_node/_local/_config/${name}`;

/** Refuses each value and keeps what was there. */
async function assertKept(name: string, values: readonly string[]): Promise<void> {
  const before = (await admin.get(optionPath(name))).body as string;
  for (const value of values) {
    const answer = await admin.put(optionPath(name), value);
    assertRefused(answer, 400, 'bad_request');
    assert.match(answer.body.reason, new RegExp(name.split('/')[1]!), value);
  }
  assert.equal((await admin.get(optionPath(name))).body, before);
}

describe('password_regexp', () => {
  const password = (text: string) => admin.put(userPath('ruled'), userDoc('ruled', { password: text }));

  test('that cannot be read is refused', async () => {
    await assertKept('chttpd_auth/password_regexp', [
      'not a list',
      '{a}',
      '[{1,2}]',
      '["("]',
      '["a", 1]',
      '[{"a","b","c"}]',
      '[{}]',
      '["a"',
      '[a]',
    ]);
    await addUser(admin, 'free', { password: 'x' });
  });

  test('may be expressions alone, in tuples of one, and with reasons', async () => {
    const plain = 'Password does not conform to requirements.';
    for (const [rules, reason] of [
      ['[".{10,}"]', plain],
      ['[{".{10,}"}]', plain],
      ['[{".{10,}", ""}]', plain],
      ['[{".{10,}", 1}]', plain],
      ['[{".{10,}", "Ten at least."}]', `${plain} Ten at least.`],
    ] as const) {
      await setOption(admin, 'chttpd_auth/password_regexp', rules);
      const answer = await password('short');
      assert.equal(`${answer.status} ${answer.body.reason}`, `400 ${reason}`, rules);
    }
    assertOk(await password('long enough'), 201);
    await setOption(admin, 'chttpd_auth/password_regexp', '[]');
    await addUser(admin, 'unruled', { password: 'x' });
    await resetOption(admin, 'chttpd_auth/password_regexp');
  });

  test('that a file has and nobody can read lets no new password pass', async () => {
    const other = await startServer({ config: { chttpd_auth: { password_regexp: 'oops' } } });
    const answer = await other.put(userPath('ann'), userDoc('ann', { password: 'long enough' }));
    assertRefused(answer, 403, 'forbidden');
  });
});

test('authentication_db is shown by /_session where it is set', async () => {
  const info = async (): Promise<Record<string, unknown>> => (await admin.get('/_session')).body.info;
  assert.equal('authentication_db' in (await info()), false);
  await setOption(admin, 'chttpd_auth/authentication_db', '_users');
  assert.equal((await info())['authentication_db'], '_users');
  await resetOption(admin, 'chttpd_auth/authentication_db');
});

describe('authentication_handlers', () => {
  const one = '{chttpd_auth, cookie_authentication_handler}';
  const two = '{chttpd_auth, default_authentication_handler}';

  test('with a slip of the pen are refused, and all stay as they were', async () => {
    await assertKept('chttpd/authentication_handlers', [
      `${one}, ${two}.`,
      `${one}; ${two}`,
      `${one} ${two}`,
      `${one}, {chttpd_auth, jwt_authentication_handle}, ${two}`,
      `${one}, {chttpd_auth, default_authentication_handler`,
      '{chttpd_auth, cookie_authentication_handler, x}',
      'cookie',
    ]);
    assert.equal(await whoAmI(admin), 'admin');
  });

  test('may be written as CouchDB takes them', async () => {
    for (const value of [
      `${one},${two}`,
      `${one} , ${two}`,
      '{couch_httpd_auth, default_authentication_handler}',
    ]) {
      assertOk(await admin.put(optionPath('chttpd/authentication_handlers'), value), 200);
      assert.equal(await whoAmI(admin), 'admin');
    }
    await resetOption(admin, 'chttpd/authentication_handlers');
  });

  test('that a file has and nobody can read stop the start', async () => {
    const dataDir = temporaryFolder();
    const file = path.join(dataDir, 'local.ini');
    const options = { dataDir, admins: { admin: 'pw' }, port: 0, logLevel: 'none' } as const;
    fs.writeFileSync(file, `[chttpd]\nauthentication_handlers = ${one}. ${two}\n`);
    await assert.rejects(createServer(options), /authentication_handlers can't be read/);
    fs.writeFileSync(file, `[chttpd]\nauthentication_handlers = ${one}, ${two}\n`);
    await (await createServer(options)).close();
  });
});

describe('bind_address', () => {
  const wrong = [
    'nonsense',
    '1.2.3',
    '999.1.1.1',
    '127.0.0.1:5984',
    '[::1]',
    'http://127.0.0.1',
    'a b',
    '::g',
    '*',
  ];

  test('that cannot be listened on is refused', async () => {
    await assertKept('chttpd/bind_address', wrong);
    await assertKept('ssl/bind_address', wrong);
    for (const value of ['0.0.0.0', '::', '::1', 'localhost', 'db.example.com', '127.0.0.1'])
      assertOk(await admin.put(optionPath('chttpd/bind_address'), value), 200);
    await resetOption(admin, 'chttpd/bind_address');
  });

  test('is checked by the setup before anything is done', async () => {
    for (const bind_address of wrong) {
      const body = { action: 'enable_single_node', bind_address, username: 'mallory', password: 'x' };
      assertRefused(await admin.post('/_cluster_setup', body), 400, 'bad_request');
    }
    assertRefused(await admin.get(optionPath('admins/mallory')), 404);
    assert.equal((await admin.get(optionPath('chttpd/bind_address'))).body, '127.0.0.1');
  });
});
