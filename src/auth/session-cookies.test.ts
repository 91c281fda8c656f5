import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { createLogger } from '../base/logger.js';
import { SystemRuntime } from '../base/runtime.js';
import { Config } from '../config/config.js';
import { Accounts } from './accounts.js';
import { Authenticator } from './authenticator.js';
import { PasswordHasher } from './passwords.js';
import { sessionValue } from './session-cookies.js';

const logger = createLogger({ level: 'none', format: 'text' });
const salt = '0123456789abcdef0123456789abcdef';
const hash = `-pbkdf2-1bd11b8339ec6f7de87f6f261929a704e2898643,${salt},1000`;
const start = 1_800_000_000_000;

function scene(options: Record<string, string> = {}) {
  const chttpd_auth = { secret: 'hush', timeout: '600', ...options };
  const config = new Config({ overrides: { admins: { ann: hash, bob: hash }, chttpd_auth } });
  const clock = { ms: start };
  const runtime = Object.assign(new SystemRuntime(), { now: () => clock.ms });
  const accounts = new Accounts(config, () => ({ find: () => undefined, isClosing: false }));
  const authenticator = new Authenticator(config, accounts, logger, runtime, new PasswordHasher(runtime));
  const seal = (name: string): string => authenticator.sessions.seal(accounts.find(name)!)!;
  const who = (cookie: string) =>
    authenticator.authenticate({
      header: (name) => (name === 'cookie' ? `AuthSession=${cookie}` : undefined),
      headers: () => [],
      sender: 'here',
    });
  const nameOf = (cookie: string): string | null => {
    const identity = who(cookie);
    assert.ok(!(identity instanceof Promise));
    return identity.user.name;
  };
  return { config, clock, authenticator, seal, who, nameOf };
}

/** A cookie as CouchDB makes it. */
function cookieOf(name: string, seconds: number, secret: string, digest: string): string {
  const text = `${name}:${seconds.toString(16).toUpperCase()}`;
  const mac = createHmac(digest, secret).update(text).digest();
  return Buffer.concat([Buffer.from(`${text}:`), mac]).toString('base64url');
}

test('a cookie stands for its user until it is too old', () => {
  const { clock, seal, nameOf } = scene();
  const cookie = seal('ann');
  assert.equal(nameOf(cookie), 'ann');
  clock.ms += 599_000;
  assert.equal(nameOf(cookie), 'ann');
  clock.ms += 1_000;
  assert.equal(nameOf(cookie), null);
});

test('a cookie is renewed when a tenth of its time is over', () => {
  const { clock, seal, who, nameOf, authenticator } = scene();
  const cookie = seal('ann');
  const renewed = (): string | undefined => {
    const identity = who(cookie);
    assert.ok(!(identity instanceof Promise));
    if (!authenticator.isDue(identity)) return undefined;
    return /^AuthSession=([^;]+);/.exec(authenticator.renewal(identity, false)!)![1];
  };
  clock.ms += 59_000;
  assert.equal(renewed(), undefined);
  clock.ms += 1_000;
  const second = renewed()!;
  clock.ms += 560_000;
  assert.equal(nameOf(cookie), null);
  assert.equal(nameOf(second), 'ann');
});

test('cookies of a CouchDB with the same secret and users are accepted, with each digest that is allowed', () => {
  const { config, nameOf } = scene();
  const seconds = start / 1000;
  const sha256 = cookieOf('ann', seconds, `hush${salt}`, 'sha256');
  const sha1 = cookieOf('ann', seconds, `hush${salt}`, 'sha1');
  const sha512 = cookieOf('ann', seconds, `hush${salt}`, 'sha512');
  assert.deepEqual([sha256, sha1, sha512].map(nameOf), ['ann', 'ann', null]);
  config.set('chttpd_auth', 'hash_algorithms', 'sha512');
  assert.deepEqual([sha256, sha1, sha512].map(nameOf), [null, null, 'ann']);
  config.set('chttpd_auth', 'hash_algorithms', 'rot13');
  assert.equal(nameOf(sha1), null, 'what names no digest allows the usual one alone');
});

test('a cookie signed with anything but secret and salt is rejected', () => {
  const { nameOf, seal } = scene();
  const seconds = start / 1000;
  for (const key of ['', 'hush', salt, `hush${salt}x`, 'undefined', `undefined${salt}`]) {
    assert.equal(nameOf(cookieOf('ann', seconds, key, 'sha256')), null, key);
  }
  const [, time, mac] = Buffer.from(seal('ann'), 'base64url').toString('latin1').split(':', 3);
  const others = [
    `bob:${time}:${mac}`,
    `ann:FFFFFFFF:${mac}`,
    `ann:${time}:`,
    `ann:${time}:${mac!.slice(1)}`,
  ];
  for (const text of others) {
    assert.equal(nameOf(Buffer.from(text, 'latin1').toString('base64url')), null, text);
  }
});

test('a new secret or password ends sessions', () => {
  const { config, nameOf, seal } = scene();
  const [ann, bob] = [seal('ann'), seal('bob')];
  assert.deepEqual([ann, bob].map(nameOf), ['ann', 'bob']);
  config.set('admins', 'ann', hash.replace(salt, 'another'));
  assert.deepEqual([ann, bob].map(nameOf), [null, 'bob']);
  config.set('chttpd_auth', 'secret', 'other');
  assert.equal(nameOf(bob), null);
});

test('the header has the attributes that are configured', () => {
  const { config, authenticator } = scene();
  const header = (secure = false): string => authenticator.sessions.header('x', secure);
  assert.equal(
    header(),
    'AuthSession=x; Version=1; Expires=Fri, 15-Jan-2027 08:10:00 GMT; Max-Age=600; Path=/; HttpOnly',
  );
  config.set('chttpd_auth', 'allow_persistent_cookies', 'false');
  assert.equal(header(true), 'AuthSession=x; Version=1; Secure; Path=/; HttpOnly');
  config.set('chttpd_auth', 'cookie_domain', 'example.com');
  for (const [value, shown] of [
    ['none', 'None'],
    ['LAX', 'Lax'],
    ['strict', 'Strict'],
  ] as const) {
    config.set('chttpd_auth', 'same_site', value);
    assert.equal(
      header(),
      `AuthSession=x; Version=1; Domain=example.com; Path=/; HttpOnly; SameSite=${shown}`,
    );
  }
  for (const wrong of ['nonsense', 'constructor', 'toString']) {
    config.set('chttpd_auth', 'same_site', wrong);
    assert.doesNotMatch(header(), /SameSite/);
  }
  config.set('chttpd_auth', 'cookie_domain', 'a; Path=/x');
  assert.doesNotMatch(header(), /Domain/);
});

test('our cookie is found among others', () => {
  assert.equal(sessionValue('AuthSession=a'), 'a');
  assert.equal(sessionValue('x=1; AuthSession=a; y=2'), 'a');
  assert.equal(sessionValue('x=1;AuthSession="a"'), 'a');
  assert.equal(sessionValue('XAuthSession=b; AuthSession=a'), 'a');
  for (const none of [
    '',
    'AuthSession',
    'AuthSession=',
    'AuthSession=; x=1',
    'XAuthSession=b',
    'x=AuthSession',
  ]) {
    assert.equal(sessionValue(none), undefined, none);
  }
});
