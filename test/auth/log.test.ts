import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../src/base/logger.js';
import { startServer } from '../support/server.js';
import { addUser, logIn, setOption } from '../support/users.js';

test('the log names users, and never a password, a cookie, a key or a hash', async () => {
  const lines: string[] = [];
  const logger = createLogger({
    level: 'debug',
    format: 'json',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const admin = await startServer({ logger, logLevel: 'debug', admins: { admin: 'adm1n-word' } });
  const root = admin.as('admin:adm1n-word');
  const ann = await addUser(root, 'ann', { password: 'ann-word' });
  await ann.get('/_session?secret=query-word');
  const { cookie } = await logIn(root, 'ann', 'ann-word');
  await root.anonymous.get('/', { cookie });
  await root.anonymous.post('/_session', { name: 'ann', password: 'wrong-word' });
  for (let i = 0; i < 7; i++) await root.as(`ann:guess-word-${i}`).get('/');
  await root.anonymous.get('/', { authorization: 'Bearer token-word' });
  await root.put('/_node/_local/_config/admins/bob', 'bob-word');
  await setOption(root, 'chttpd_auth/secret', 'secret-word');
  await setOption(root, 'jwt_keys/hmac:_default', 'key-word');
  await root.put('/_users/org.couchdb.user:eve?batch=ok', { name: 'eve', password: 'eve-word' });
  await root.post('/_users/_ensure_full_commit');
  await root.post('/_cluster_setup', {
    action: 'enable_single_node',
    username: 'carl',
    password: 'carl-word',
  });
  const text = lines.join('');
  assert.match(text, /"user":"ann"/);
  assert.match(text, /too many failed logins/);
  assert.match(text, /doc.type must be user/);
  assert.doesNotMatch(text, /-word|pbkdf2|derived_key/);
  assert.ok(!text.includes(cookie.slice('AuthSession='.length)));
});
