import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { startServer } from '../support/server.js';
import {
  addUser,
  logIn,
  openUsers,
  resetOption,
  setOption,
  userDoc,
  userPath,
  whoAmI,
} from '../support/users.js';

const admin = await startServer();
await openUsers(admin);
const nobody = admin.anonymous;

describe('A user', () => {
  test('sees nothing of others, in whatever way documents are read', async () => {
    const eve = await addUser(admin, 'eve');
    await addUser(admin, 'mallory', { phone: 'no. one' });
    const { rev } = (
      await admin.send(
        'PUT',
        `${userPath('mallory')}/face?rev=${(await admin.get(userPath('mallory'))).body._rev}`,
        {
          raw: 'png',
          headers: { 'content-type': 'image/png' },
        },
      )
    ).body;
    const mallory = userPath('mallory');
    const other = { ...userDoc('mallory', { phone: 'no. two' }), _rev: `1-${'0'.repeat(32)}` };
    assertOk(await admin.put(`${mallory}?new_edits=false`, other), 201);
    for (const client of [eve, nobody]) {
      assertRefused(await client.get(mallory), 404);
      assertRefused(await client.get(`${mallory}?rev=${rev}`), 404);
      assertRefused(await client.get(`${mallory}?revs=true&conflicts=true`), 404);
      assertRefused(await client.get(`${mallory}?open_revs=all`), 404);
      assertRefused(await client.get(`${mallory}?open_revs=["${rev}"]`), 404);
      assertRefused(await client.get(`${mallory}/face`), 404);
      assertRefused(await client.get(`${mallory}/face?rev=${rev}`), 404);
      assertRefused(await client.copy(mallory, 'org.couchdb.user:eve2'), 404);
      const docs = [{ id: 'org.couchdb.user:mallory', rev }, { id: 'org.couchdb.user:mallory' }];
      const bulk = await client.post('/_users/_bulk_get', { docs });
      for (const { docs: found } of bulk.body.results) assert.equal(found[0].error.error, 'not_found');
      const parts = await client.post('/_users/_bulk_get', { docs }, { accept: 'multipart/mixed' });
      assert.equal(parts.text.match(/"not_found"/g)?.length, 2);
      for (const { text } of [bulk, parts]) assert.doesNotMatch(text, /derived_key|no\. one|no\. two/);
    }
    assertOk(await eve.get(userPath('eve')), 200);
    assertOk(await eve.get(`${userPath('eve')}?open_revs=all`), 200);
    const own = await eve.post('/_users/_bulk_get', { docs: [{ id: 'org.couchdb.user:eve' }] });
    assert.equal(own.body.results[0].docs[0].ok.name, 'eve');
  });

  test('cannot tell whether another one exists', async () => {
    const carol = await addUser(admin, 'carol');
    await addUser(admin, 'there');
    await addUser(admin, 'gone');
    const { _rev } = (await admin.get(userPath('gone'))).body;
    await admin.delete(`${userPath('gone')}?rev=${_rev}`);
    for (const name of ['there', 'gone', 'never']) {
      for (const answer of [
        await carol.get(userPath(name)),
        await carol.put(userPath(name), userDoc(name)),
        await carol.put(userPath(name), userDoc(name, { _rev: '1-abc' })),
        await carol.send('PUT', `${userPath(name)}/face?rev=1-abc`, { raw: 'x' }),
      ]) {
        assert.ok([404, 409].includes(answer.status), answer.text);
        assert.equal(answer.body.error, 'not_found');
      }
      assertRefused(await carol.delete(`${userPath(name)}?rev=1-abc`), 404);
      assert.equal((await carol.get(userPath(name))).body.reason, 'missing');
    }
  });

  test('may sign up anonymously, without roles, and not as somebody who is there', async () => {
    assertOk(await nobody.put(userPath('newcomer'), userDoc('newcomer', { password: 'pw' })), 201);
    assert.equal(await whoAmI(admin.as('newcomer:pw')), 'newcomer');
    const asking = (roles: string[]) =>
      nobody.put(userPath('newcomer2'), userDoc('newcomer2', { password: 'pw', roles }));
    assertRefused(await asking(['editors']), 403);
    assertRefused(await asking(['_admin']), 403);
    assertRefused(await nobody.put(userPath('newcomer'), userDoc('newcomer', { password: 'x' })), 409);
    const { _rev } = (await admin.get(userPath('newcomer'))).body;
    const known = userDoc('newcomer', { password: 'x', _rev });
    assertRefused(await nobody.put(userPath('newcomer'), known), 403);
    assertRefused(await nobody.delete(`${userPath('newcomer')}?rev=${_rev}`), 403);
    assert.equal(await whoAmI(admin.as('newcomer:pw')), 'newcomer');
  });

  test('who replicates cannot take an account over, nor bring old roles back', async () => {
    const dave = await addUser(admin, 'dave', { roles: ['boss'] });
    const first = (await admin.get(userPath('dave'))).body;
    const second = await admin.put(userPath('dave'), { ...first, roles: [] });
    assertOk(second, 201);
    const [, hash1] = first._rev.split('-') as [string, string];
    const history = { start: 9, ids: [...'abcdef01'].map((c) => c.repeat(32)).concat(hash1) };
    const forged = { ...first, _rev: `9-${history.ids[0]}`, _revisions: history };
    const send = async (client: typeof admin, doc: object) =>
      (await client.post('/_users/_bulk_docs', { docs: [doc], new_edits: false })).body as {
        error: string;
      }[];
    assert.equal((await send(dave, forged))[0]!.error, 'forbidden');
    assert.equal((await send(nobody, forged))[0]!.error, 'forbidden');
    const fresh = userDoc('dave', { password: 'mine', _rev: '99-abc' });
    assert.equal((await send(nobody, fresh))[0]!.error, 'forbidden');
    assert.equal((await send(admin.as('dave:pw'), { ...forged, roles: ['_admin'] }))[0]!.error, 'forbidden');
    assert.equal((await admin.get(userPath('dave'))).body._rev, second.body.rev);
    assert.deepEqual((await dave.get('/_session')).body.userCtx.roles, []);
  });

  test('whose document is in conflict cannot log in until it is resolved; an admin of that name can', async () => {
    const frank = await addUser(admin, 'frank');
    const { rev: other } = { rev: `7-${'e'.repeat(32)}` };
    const conflicting = userDoc('frank', { password: 'other', _rev: other });
    await admin.post('/_users/_bulk_docs', { docs: [conflicting], new_edits: false });
    for (const client of [frank, admin.as('frank:other')]) {
      const answer = await client.get('/');
      assertRefused(answer, 401);
      assert.match(answer.body.reason, /conflicts/);
    }
    await admin.put('/_node/_local/_config/admins/frank', 'root');
    assert.equal(await whoAmI(admin.as('frank:root')), 'frank');
    await admin.delete('/_node/_local/_config/admins/frank');
    assertOk(await admin.delete(`${userPath('frank')}?rev=${other}`), 200);
    assert.equal(await whoAmI(frank), 'frank');
  });

  test('has a picture: attachments of the own document', async () => {
    const grace = await addUser(admin, 'grace');
    const { _rev } = (await grace.get(userPath('grace'))).body;
    const put = await grace.send('PUT', `${userPath('grace')}/face?rev=${_rev}`, {
      raw: 'png',
      headers: { 'content-type': 'image/png' },
    });
    assertOk(put, 201);
    assert.equal((await grace.get(`${userPath('grace')}/face`)).text, 'png');
    const doc = (await grace.get(userPath('grace'))).body;
    assertOk(await grace.put(userPath('grace'), { ...doc, password: 'new' }), 201);
    const again = admin.as('grace:new');
    assert.equal((await again.get(`${userPath('grace')}/face`)).text, 'png');
    assertOk(
      await again.delete(`${userPath('grace')}/face?rev=${(await again.get(userPath('grace'))).body._rev}`),
      200,
    );
  });
});

describe('A change of an account', () => {
  test('counts for the next request: password, roles, deletion', async () => {
    const heidi = await addUser(admin, 'heidi', { roles: ['a'] });
    const { cookie } = await logIn(admin, 'heidi');
    const rolesOf = async (headers = {}) =>
      (await (Object.keys(headers).length > 0 ? nobody : heidi).get('/_session', headers)).body.userCtx.roles;
    assert.deepEqual(await rolesOf(), ['a']);
    const doc = (await admin.get(userPath('heidi'))).body;
    await admin.put(userPath('heidi'), { ...doc, roles: ['b'] });
    assert.deepEqual(await rolesOf(), ['b']);
    assert.deepEqual(await rolesOf({ cookie }), ['b']);
    const next = (await admin.get(userPath('heidi'))).body;
    await admin.put(userPath('heidi'), { ...next, password: 'new' });
    assertRefused(await heidi.get('/'), 401);
    assert.equal(await whoAmI(nobody, { cookie }), null);
    assert.equal(await whoAmI(admin.as('heidi:new')), 'heidi');
    const last = (await admin.get(userPath('heidi'))).body;
    await admin.delete(`${userPath('heidi')}?rev=${last._rev}`);
    assertRefused(await admin.as('heidi:new').get('/'), 401);
  });

  test('that removes the whole database locks everybody out but the admins', async () => {
    const other = await startServer();
    const ivan = await addUser(other, 'ivan');
    const session = await logIn(other, 'ivan');
    assert.equal(await whoAmI(ivan), 'ivan');
    assertOk(await other.delete('/_users'), 200);
    assertRefused(await ivan.get('/'), 401);
    assert.equal(await whoAmI(other.anonymous, session), null);
    assertOk(await other.put('/_users'), 201);
    assertRefused(await ivan.get('/'), 401);
    assert.deepEqual((await other.get('/_users/_security')).body, {
      members: { roles: ['_admin'] },
      admins: { roles: ['_admin'] },
    });
  });
});

describe('The users database', () => {
  test('may have another name, and its rules hold in every database of that name', async () => {
    const other = await startServer({
      config: { chttpd_auth: { iterations: '100', users_db_suffix: '_people' } },
    });
    assertOk(await other.get('/_people'), 200);
    assertRefused(await other.get('/_users'), 404);
    const doc = { name: 'judy', type: 'user', roles: ['r'], password: 'pw' };
    assertOk(await other.put('/_people/org.couchdb.user:judy', doc), 201);
    assert.equal(await whoAmI(other.as('judy:pw')), 'judy');
    assertOk(await other.put('/team%2F_people'), 201);
    assertRefused(await other.put('/team%2F_people/x', {}), 403);
    await setOption(other, 'chttpd_auth/authentication_db', 'team/_people');
    assertRefused(await other.as('judy:pw').get('/'), 401);
    assertOk(await other.put('/team%2F_people/org.couchdb.user:judy', { ...doc, password: 'team' }), 201);
    assert.equal(await whoAmI(other.as('judy:team')), 'judy');
    await resetOption(other, 'chttpd_auth/authentication_db');
    assert.equal(await whoAmI(other.as('judy:pw')), 'judy');
  });

  test('can be listed by users, as far as it is public', async () => {
    const kate = await addUser(admin, 'kate', { email: 'k@x' });
    await setOption(admin, 'chttpd_auth/public_fields', 'name, email, nosuch');
    assertRefused(await kate.get('/_users/_all_docs'), 401);
    await setOption(admin, 'chttpd_auth/users_db_public', 'true');
    const { body } = await kate.get('/_users/_all_docs?include_docs=true');
    const rows = body.rows as { id: string; doc: Record<string, unknown> | null }[];
    const docs = rows.map(({ doc }) => doc).filter((doc) => doc !== null);
    for (const doc of docs) {
      const own = doc['name'] === 'kate';
      assert.equal(doc['derived_key'] !== undefined, own, JSON.stringify(doc));
      assert.equal(doc['type'] !== undefined, own);
    }
    assert.ok(docs.length > 2);
    const keyed = await kate.post('/_users/_all_docs?include_docs=true', {
      keys: ['org.couchdb.user:eve', 'org.couchdb.user:kate'],
    });
    assert.deepEqual(Object.keys(keyed.body.rows[0].doc as object), ['_id', '_rev', 'name']);
    assert.ok(keyed.body.rows[1].doc.derived_key);
    assertRefused(await nobody.get('/_users/_all_docs'), 401);
    await resetOption(admin, 'chttpd_auth/public_fields');
    assertRefused(await kate.get('/_users/_all_docs'), 401);
    await resetOption(admin, 'chttpd_auth/users_db_public');
  });
});
