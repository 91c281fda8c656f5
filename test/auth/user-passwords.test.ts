import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { startServer, temporaryFolder } from '../support/server.js';
import { addUser, openUsers, resetOption, setOption, userDoc, userPath, whoAmI } from '../support/users.js';

const dataDir = temporaryFolder();
const admin = await startServer({ dataDir });

describe('A password', () => {
  test('is stored nowhere, whichever way its document came', async () => {
    const secret = (n: number): string => `plain-${n}-secret`;
    await addUser(admin, 'p1', { password: secret(1) });
    await admin.post('/_users', userDoc('p2', { password: secret(2) }));
    const docs = [
      userDoc('p3', { password: secret(3) }),
      userDoc('p4', { password: secret(4), _rev: '5-abc' }),
    ];
    assert.equal((await admin.post('/_users/_bulk_docs', { docs: docs.slice(0, 1) })).body[0].ok, true);
    const replicated = { docs: docs.slice(1), new_edits: false };
    assert.deepEqual((await admin.post('/_users/_bulk_docs', replicated)).body, []);
    await admin.put(`${userPath('p5')}?batch=ok`, userDoc('p5', { password: secret(5) }));
    await admin.post('/_users/_ensure_full_commit');
    const multipart = [
      '--b\r\nContent-Type: application/json\r\n\r\n',
      JSON.stringify(
        userDoc('p6', {
          password: secret(6),
          _attachments: { face: { follows: true, content_type: 'image/png', length: 3 } },
        }),
      ),
      '\r\n--b\r\n\r\npng\r\n--b--',
    ].join('');
    const headers = { 'content-type': 'multipart/related; boundary=b' };
    assertOk(await admin.send('PUT', userPath('p6'), { raw: multipart, headers }), 201);
    const { rev } = (await admin.put(userPath('p7'), userDoc('p7', { password: secret(7) }))).body;
    const deleted = userDoc('p7', { _rev: rev, _deleted: true, password: secret(8), left: 1 });
    assert.equal((await admin.post('/_users/_bulk_docs', { docs: [deleted] })).body[0].ok, true);
    for (let n = 1; n <= 6; n++) {
      assert.equal(await whoAmI(admin.as(`p${n}:${secret(n)}`)), `p${n}`);
      const { body } = await admin.get(userPath(`p${n}`));
      assert.equal(body.password, undefined);
      assert.match(body.derived_key, /^[0-9a-f]{64}$/);
    }
    for (const file of fs.readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
      const full = path.join(dataDir, file);
      if (!fs.statSync(full).isFile()) continue;
      assert.doesNotMatch(fs.readFileSync(full, 'latin1'), /plain-\d-secret/, file);
    }
  });

  test('refuses the whole bulk request where it is unacceptable, whatever the revision', async () => {
    const good = userDoc('bulk-good', { password: 'long enough' });
    const bulk = (bad: Record<string, unknown>) =>
      admin.post('/_users/_bulk_docs', { docs: [good, userDoc('bulk-bad', bad)] });
    await setOption(admin, 'chttpd_auth/password_regexp', '[".{5,}"]');
    assertRefused(await bulk({ password: 1 }), 403, 'forbidden');
    assertRefused(await bulk({ password: 'x' }), 400, 'bad_request');
    assertRefused(await bulk({ password: 'x', _rev: '7-a' }), 400, 'bad_request');
    assertRefused(await admin.get(userPath('bulk-good')), 404);
    await resetOption(admin, 'chttpd_auth/password_regexp');
    const rows = (await bulk({ password: 'x', roles: 1 })).body;
    assert.deepEqual([rows[0].ok, rows[1].error], [true, 'forbidden']);
  });

  test('keeps what else the document says, token by token', async () => {
    const text =
      '{"name":"keep","type":"user","roles":[],"n":1.0,"big":12345678901234567890,"password":"pw","iterations":3,"ä":"\\u00e4"}';
    assertOk(await admin.send('PUT', userPath('keep'), { raw: text }), 201);
    const stored = (await admin.get(userPath('keep'))).text;
    assert.ok(
      stored.includes('"name":"keep","type":"user","roles":[],"n":1.0,"big":12345678901234567890'),
      stored,
    );
    assert.ok(stored.includes('"ä":"\\u00e4"'), stored);
    assert.equal(stored.match(/"iterations"/g)!.length, 1);
    assert.equal(await whoAmI(admin.as('keep:pw')), 'keep');
  });

  test('that is no string is refused, and null is none', async () => {
    for (const password of [1, true, [], {}]) {
      assertRefused(await admin.put(userPath('odd'), userDoc('odd', { password })), 403);
    }
    assertOk(await admin.put(userPath('odd'), userDoc('odd', { password: null })), 201);
    assertRefused(await admin.as('odd:null').get('/'), 401);
    assertRefused(await admin.as('odd:').get('/'), 401);
  });

  test('of a ready-made hash counts, of every kind that CouchDB has written', async () => {
    const salt = '0123456789abcdef0123456789abcdef';
    const sha1 = createHash('sha1').update(`swordfish${salt}`).digest('hex');
    const hashes: object[] = [
      { password_scheme: 'simple', password_sha: sha1, salt },
      { password_sha: sha1, salt },
      {
        password_scheme: 'pbkdf2',
        derived_key: '1bd11b8339ec6f7de87f6f261929a704e2898643',
        salt,
        iterations: 1000,
      },
      {
        password_scheme: 'pbkdf2',
        pbkdf2_prf: 'sha256',
        derived_key: '15dd70b886ecdb3a64b171938b9dc5177c009b41a5aa30d5914ab45d7eabf526',
        salt,
        iterations: 1000,
      },
    ];
    for (const [i, hash] of hashes.entries()) {
      assertOk(await admin.put(userPath(`ready${i}`), userDoc(`ready${i}`, hash)), 201);
      assert.equal(await whoAmI(admin.as(`ready${i}:swordfish`)), `ready${i}`);
      assertRefused(await admin.as(`ready${i}:swordfisH`).get('/'), 401);
    }
  });

  test('of a hash that makes no sense is refused when it is saved', async () => {
    const pbkdf2 = { password_scheme: 'pbkdf2', salt: 's', iterations: 100, derived_key: 'ab' };
    const hashes: [object, RegExp][] = [
      [{ ...pbkdf2, derived_key: '' }, /derived_key/],
      [{ ...pbkdf2, derived_key: 'zz' }, /derived_key/],
      [{ ...pbkdf2, derived_key: 'abc' }, /derived_key/],
      [{ ...pbkdf2, derived_key: 7 }, /derived_key/],
      [{ ...pbkdf2, derived_key: 'ab'.repeat(5_000) }, /derived_key/],
      [{ ...pbkdf2, iterations: 0 }, /iterations/],
      [{ ...pbkdf2, iterations: 1.5 }, /iterations/],
      [{ ...pbkdf2, iterations: -1 }, /iterations/],
      [{ ...pbkdf2, iterations: 1e10 }, /iterations/],
      [{ ...pbkdf2, iterations: '100' }, /iterations/],
      [{ ...pbkdf2, iterations: null }, /iterations/],
      [{ ...pbkdf2, pbkdf2_prf: 'md5' }, /pbkdf2_prf/],
      [{ ...pbkdf2, pbkdf2_prf: 7 }, /pbkdf2_prf/],
      [{ ...pbkdf2, pbkdf2_prf: 'toString' }, /pbkdf2_prf/],
      [{ ...pbkdf2, salt: 7 }, /salt/],
      [{ ...pbkdf2, salt: undefined }, /salt/],
      [{ password_sha: 'abc', salt: 's' }, /password_sha/],
      [{ password_sha: 7, salt: 's' }, /password_sha/],
      [{ password_sha: 'ab'.repeat(20), salt: 7 }, /salt/],
    ];
    for (const [hash, reason] of hashes) {
      const answer = await admin.put(userPath('bad'), userDoc('bad', hash));
      assertRefused(answer, 403, 'forbidden');
      assert.match(answer.body.reason, reason, JSON.stringify(hash));
    }
    // As replication would bring it.
    const docs = [userDoc('bad', { ...pbkdf2, salt: 7, _rev: '1-abc' })];
    const replicated = await admin.post('/_users/_bulk_docs', { docs, new_edits: false });
    assert.equal(replicated.body[0].error, 'forbidden');
  });

  test('of a hash that makes no sense is nobody’s, where it was saved before', async () => {
    const hash = { password_scheme: 'pbkdf2', salt: 7, iterations: 100, derived_key: 'ab' };
    await admin.put('/imported');
    assertOk(await admin.put('/imported/org.couchdb.user:bad', userDoc('bad', hash)), 201);
    await setOption(admin, 'chttpd_auth/authentication_db', 'imported');
    for (const password of ['', 'x', 'ab']) assertRefused(await admin.as(`bad:${password}`).get('/'), 401);
    await resetOption(admin, 'chttpd_auth/authentication_db');
  });

  test('of a hash with too few or too many iterations cannot be chosen by users', async () => {
    await openUsers(admin);
    const own = await addUser(admin, 'self');
    const doc = (await own.get(userPath('self'))).body as object;
    for (const iterations of [1, 99, 1_000_001, 0x7fffffff]) {
      assertRefused(await own.put(userPath('self'), { ...doc, iterations }), 403, 'forbidden');
      const signUp = userDoc('fresh', { ...doc, _id: undefined, _rev: undefined, name: 'fresh', iterations });
      assertRefused(await admin.anonymous.put(userPath('fresh'), signUp), 403, 'forbidden');
    }
    assert.equal(await whoAmI(own), 'self');
    assertOk(await own.put(userPath('self'), { ...doc, phone: 1 }), 201);
    // An admin may bring the accounts before the option.
    const old = userDoc('old', { password_scheme: 'pbkdf2', salt: 's', iterations: 10, derived_key: 'ab' });
    assertOk(await admin.put(userPath('old'), old), 201);
    const login = await admin.as('old:x').get('/');
    assertRefused(login, 403);
    assert.equal(login.body.reason, 'Iteration count is too low for this server');
  });
});
