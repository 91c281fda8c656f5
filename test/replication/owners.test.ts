import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused } from '../support/expect.js';
import { startServer, temporaryFolder } from '../support/server.js';

const admin = await startServer({ dataDir: temporaryFolder() });
for (const [name, roles] of [
  ['anna', ['staff']],
  ['bob', []],
  ['chief', []],
] as const)
  await admin.put(`/_users/org.couchdb.user:${name}`, { name, roles, type: 'user', password: 'pw' });
const db = '/team%2F_replicator';
await admin.put(db);
await admin.put(`${db}/_security`, { admins: { names: ['chief'] }, members: { names: ['anna', 'bob'] } });
const [anna, bob, chief] = ['anna', 'bob', 'chief'].map((name) => admin.as(`${name}:pw`)) as [
  typeof admin,
  typeof admin,
  typeof admin,
];

/** Nothing listens there: what is looked at here is the documents. */
const doc = {
  source: 'http://anna:hush@127.0.0.1:1/a',
  target: {
    url: 'http://anna:hush@127.0.0.1:1/b',
    headers: { Authorization: 'Bearer hush' },
    auth: { basic: { username: 'anna', password: 'hush' } },
  },
  source_proxy: 'http://me:hush@127.0.0.1:1',
  note: 12345678901234567890n.toString(),
};

describe('a document of a replicator database', () => {
  test('belongs to whoever wrote it', async () => {
    assert.equal((await anna.put(`${db}/hers`, doc)).status, 201);
    assert.equal((await admin.get(`${db}/hers`)).body.owner, 'anna');
  });

  test('is shown to its owner and to admins as it is, and to others without credentials', async () => {
    for (const client of [anna, chief, admin]) {
      const { body } = await client.get(`${db}/hers`);
      assert.deepEqual(
        [body.source, body.target, body.source_proxy],
        [doc.source, doc.target, doc.source_proxy],
      );
    }
    const { rev } = { rev: (await admin.get(`${db}/hers`)).body._rev as string };
    for (const answer of [
      await bob.get(`${db}/hers`),
      await bob.get(`${db}/hers?rev=${rev}`),
      await bob.get(`${db}/hers?open_revs=all`),
      await bob.get(`${db}/hers?revs=true&conflicts=true`),
      await bob.post(`${db}/_bulk_get`, { docs: [{ id: 'hers' }] }),
      await bob.post(`${db}/_bulk_get?revs=true`, { docs: [{ id: 'hers', rev }] }),
    ]) {
      assert.equal(answer.status, 200, answer.text);
      assert.ok(!answer.text.includes('hush'), answer.text);
      assert.ok(answer.text.includes('127.0.0.1:1/a'), answer.text);
      assert.ok(answer.text.includes(doc.note));
    }
    assert.deepEqual((await bob.get(`${db}/hers`)).body.target, { url: 'http://127.0.0.1:1/b' });
  });

  test('is changed and deleted by its owner and by admins alone', async () => {
    const { _rev } = (await anna.get(`${db}/hers`)).body as { _rev: string };
    assertRefused(await bob.put(`${db}/hers`, { ...doc, _rev }), 403, 'forbidden');
    assertRefused(await bob.put(`${db}/hers`, { ...doc, _rev, owner: 'bob' }), 403, 'forbidden');
    assertRefused(await bob.delete(`${db}/hers?rev=${_rev}`), 403, 'forbidden');
    const foreign = `2-${'a'.repeat(32)}`;
    const histories = [
      ['a'.repeat(32), _rev.slice(2)],
      ['a'.repeat(32), 'b'.repeat(32)],
    ];
    for (const ids of histories) {
      const copy = { _id: 'hers', ...doc, owner: 'bob', _rev: foreign, _revisions: { start: 2, ids } };
      const { body } = await bob.post(`${db}/_bulk_docs`, { docs: [copy], new_edits: false });
      assert.equal(body[0]?.error, 'forbidden', JSON.stringify(body));
    }
    const changed = await anna.put(`${db}/hers`, { ...doc, note: 'changed', _rev });
    assert.equal(changed.status, 201, changed.text);
    const again = await chief.put(`${db}/hers`, { ...doc, owner: 'anna', _rev: changed.body.rev });
    assert.equal(again.status, 201, again.text);
    assert.equal((await anna.delete(`${db}/hers?rev=${again.body.rev}`)).status, 200);
  });

  test('is not written in the name of somebody else, except by admins', async () => {
    assertRefused(await bob.put(`${db}/foreign`, { ...doc, owner: 'anna' }), 403, 'forbidden');
    const docs = [
      { _id: 'own', ...doc },
      { _id: 'foreign', ...doc, owner: 'anna' },
    ];
    assertRefused(await bob.post(`${db}/_bulk_docs`, { docs }), 403, 'forbidden');
    assert.equal((await bob.get(`${db}/own`)).status, 404);
    assert.equal((await chief.put(`${db}/foreign`, { ...doc, owner: 'anna' })).status, 201);
    assert.equal((await chief.get(`${db}/foreign`)).body.owner, 'anna');
  });

  test('names a user context of its owner, with roles that he has', async () => {
    const put = (user_ctx: unknown) => anna.put(`${db}/ctx`, { ...doc, user_ctx });
    assertRefused(await put({ name: 'bob' }), 403, 'forbidden');
    assertRefused(await put({ name: 'anna', roles: ['_admin'] }), 403, 'forbidden');
    assertRefused(await put({ roles: [] }), 403, 'forbidden');
    for (const wrong of [
      { name: '' },
      { name: 5 },
      { name: 'anna', roles: [5] },
      { name: 'anna', roles: 'x' },
    ])
      assertRefused(await put(wrong), 403, 'forbidden');
    assert.equal((await put({ name: 'anna', roles: ['staff'] })).status, 201);
  });

  test('has states that nobody but the replicator writes, by whatever way', async () => {
    const state = { _replication_state: 'completed' };
    assertRefused(await anna.put(`${db}/state`, { ...doc, ...state }), 403, 'forbidden');
    const docs = [{ _id: 'state', _rev: `1-${'a'.repeat(32)}`, ...doc, ...state }];
    const { body } = await anna.post(`${db}/_bulk_docs`, { docs, new_edits: false });
    assert.equal(body[0].error, 'forbidden');
  });
});
