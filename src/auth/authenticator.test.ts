import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createLogger } from '../base/logger.js';
import { SystemRuntime } from '../base/runtime.js';
import { Config } from '../config/config.js';
import { Accounts } from './accounts.js';
import { hashPlainAdmins, hasAdmin, reloadConfig, setAdmin } from './admins.js';
import type { RequestInfo } from './request-info.js';
import { Authenticator, anonymousIdentity, type Identity } from './authenticator.js';
import { PasswordHasher } from './passwords.js';
import { temporaryFolder } from '../../test/support/server.js';

const runtime = new SystemRuntime();
const hasher = new PasswordHasher(runtime);
const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;
const asking = (authorization: string | undefined, sender = 'here'): RequestInfo => ({
  header: (name) => (name === 'authorization' ? authorization : undefined),
  headers: () => [],
  sender,
});
const logger = createLogger({ level: 'none', format: 'text' });
const admin = (name: string): Identity => ({ user: { name, roles: ['_admin'] }, handler: 'default' });

function authenticatorOf(config: Config): Authenticator {
  const withoutUsers = { find: () => undefined, isClosing: false };
  return new Authenticator(config, new Accounts(config, () => withoutUsers), logger, runtime, hasher);
}

const quick = { chttpd_auth: { iterations: '100' } };
const wrong = { error: 'unauthorized', reason: 'Name or password is incorrect.' };

async function withAdmin(): Promise<{ config: Config; authenticator: Authenticator }> {
  const config = new Config({ overrides: { ...quick, admins: { ann: 'se:crét' } } });
  await hashPlainAdmins(config, hasher);
  return { config, authenticator: authenticatorOf(config) };
}

test('a server admin is known by name and password, the second time without a promise', async () => {
  const { authenticator } = await withAdmin();
  const first = authenticator.authenticate(asking(basic('ann:se:crét')));
  const second = authenticator.authenticate(asking(basic('ann:se:crét')));
  assert.ok(first instanceof Promise);
  assert.equal(await first, await second, 'the same login is checked once');
  assert.deepEqual(await first, admin('ann'));
  assert.deepEqual(authenticator.authenticate(asking(basic('ann:se:crét'))), admin('ann'));
});

test('wrong names and passwords are refused, again and again', async () => {
  const { authenticator } = await withAdmin();
  for (const credentials of ['ann:x', 'ann:', ':', 'bob:se:crét', 'constructor:x', '__proto__:x', 'ann:x']) {
    await assert.rejects(async () => authenticator.authenticate(asking(basic(credentials))), wrong);
  }
});

test('headers that name no login are anonymous, and what is not base64 is refused', async () => {
  const { authenticator } = await withAdmin();
  for (const header of [undefined, '', 'Basic', 'Basic ', 'Bearer abc', basic('nocolon'), basic('_:_')]) {
    assert.equal(authenticator.authenticate(asking(header)), anonymousIdentity);
  }
  const lowerCase = basic('ann:se:crét').replace('Basic', 'basic');
  assert.equal(authenticator.authenticate(asking(lowerCase)), anonymousIdentity, 'as CouchDB does');
  assert.throws(() => authenticator.authenticate(asking('Basic !!!!')), { error: 'bad_request' });
});

test('a changed or deleted admin is not let in by what was known before', async () => {
  const { config, authenticator } = await withAdmin();
  await authenticator.authenticate(asking(basic('ann:se:crét')));
  const running = authenticator.authenticate(asking(basic('ann:se:crét')));
  assert.match(await setAdmin(config, hasher, 'ann', 'new'), /^-pbkdf2-/);
  await running;
  await assert.rejects(async () => authenticator.authenticate(asking(basic('ann:se:crét'))), wrong);
  assert.deepEqual(await authenticator.authenticate(asking(basic('ann:new'))), admin('ann'));
  config.delete('admins', 'ann');
  await assert.rejects(async () => authenticator.authenticate(asking(basic('ann:new'))), wrong);
});

test('the number of remembered logins is bounded', async () => {
  const { config, authenticator } = await withAdmin();
  config.set('chttpd_auth', 'auth_cache_size', '1');
  await setAdmin(config, hasher, 'bob', 'b');
  await authenticator.authenticate(asking(basic('ann:se:crét')));
  await authenticator.authenticate(asking(basic('bob:b')));
  assert.ok(authenticator.authenticate(asking(basic('ann:se:crét'))) instanceof Promise);
});

test('server admins are not locked out by bounds of iterations', async () => {
  for (const [key, value] of [
    ['min_iterations', '101'],
    ['max_iterations', '99'],
  ] as const) {
    const { config, authenticator } = await withAdmin();
    config.set('chttpd_auth', key, value);
    assert.equal((await authenticator.authenticate(asking(basic('ann:se:crét')))).user.name, 'ann');
  }
});

test('a ready hash is stored as it is, and a password that was called one is hashed', async () => {
  const { config } = await withAdmin();
  const ready = '-pbkdf2-1bd11b8339ec6f7de87f6f261929a704e2898643,0123456789abcdef0123456789abcdef,1000';
  await setAdmin(config, hasher, 'bob', ready);
  assert.equal(config.get('admins', 'bob'), ready);
  await setAdmin(config, hasher, 'eve', 'plain');
  assert.match(config.get('admins', 'eve')!, /^-pbkdf2-/);
  await assert.rejects(setAdmin(config, hasher, 'eve', ''), { error: 'bad_request' });
});

test('passwords in files are replaced in place by their hashes, at start and at a reload', async () => {
  const dataDir = temporaryFolder();
  const file = path.join(dataDir, 'local.ini');
  fs.writeFileSync(file, '; mine\n[admins]\nann = p#ss;x ; hers\n\n[x]\nann = p#ss;x\n', { mode: 0o640 });
  const config = new Config({ dataDir, overrides: quick });
  assert.equal(hasAdmin(config), true);
  assert.deepEqual(await hashPlainAdmins(config, hasher), { unwritable: [] });
  const hashed = config.get('admins', 'ann')!;
  assert.equal(fs.readFileSync(file, 'utf8'), `; mine\n[admins]\nann = ${hashed}\n\n[x]\nann = p#ss;x\n`);
  assert.equal(fs.statSync(file).mode & 0o777, 0o640);
  const authenticator = authenticatorOf(config);
  assert.equal((await authenticator.authenticate(asking(basic('ann:p#ss;x')))).user.name, 'ann');

  fs.appendFileSync(file, '[admins]\nbob = later\n');
  await reloadConfig(config, hasher);
  assert.equal((await authenticator.authenticate(asking(basic('bob:later')))).user.name, 'bob');
  assert.doesNotMatch(fs.readFileSync(file, 'utf8'), /later/);
});
