import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { SystemRuntime } from '../base/runtime.js';
import { parseHash, PasswordHasher } from './passwords.js';

const hasher = new PasswordHasher(new SystemRuntime());

const salt = '0123456789abcdef0123456789abcdef';
const known = [
  `-pbkdf2-1bd11b8339ec6f7de87f6f261929a704e2898643,${salt},1000`,
  `-pbkdf2:sha256-15dd70b886ecdb3a64b171938b9dc5177c009b41a5aa30d5914ab45d7eabf526,${salt},1000`,
  `-hashed-${createHash('sha1')
    .update('swordfish' + salt)
    .digest('hex')},${salt}`,
];

test('hashes that CouchDB made fit their password and no other', async () => {
  for (const stored of known) {
    const hash = parseHash(stored)!;
    assert.equal(await hasher.verify('swordfish', hash), true, stored);
    assert.equal(await hasher.verify('swordfisH', hash), false, stored);
    assert.equal(await hasher.verify('', hash), false, stored);
  }
});

test('a new hash has the written form, a salt of its own, and fits', async () => {
  const [one, two] = [await hasher.hash('pä:ss', 10), await hasher.hash('pä:ss', 10)];
  assert.match(one, /^-pbkdf2-[0-9a-f]{40},[0-9a-f]{32},10$/);
  assert.notEqual(one, two);
  assert.equal(await hasher.verify('pä:ss', parseHash(one)!), true);
});

test('what is no hash is not taken for one', () => {
  for (const text of [
    'secret',
    '',
    '-pbkdf2-',
    '-pbkdf2-zz,salt,10',
    '-pbkdf2-ab,salt,0',
    '-pbkdf2-ab,salt,9999999999',
    '-pbkdf2:md5-ab,salt,1',
    '-hashed-ab,salt',
  ]) {
    assert.equal(parseHash(text), undefined, text);
  }
});
