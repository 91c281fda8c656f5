import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Answer, HttpClient } from '../support/http-client.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { startServer } from '../support/server.js';
import { addUser, openUsers, resetOption, setOption, userDoc, userPath } from '../support/users.js';
import { accessRows } from './access-table.js';

/** The users database opened as docs/security.md shows, with design documents, indexes and local documents in it. */
const admin = await startServer();
const secret = 'phone-of-bob';
const localSecret = 'checkpoint-of-somebody';
const designReason = 'Only administrators can view design docs in the users database.';
const notAdminReason = 'You are not a db or server admin.';

const app = {
  _id: '_design/app',
  views: {
    all: { map: 'function (doc) { emit(doc.name, doc.phone); }' },
    sum: { map: 'function (doc) { emit(doc.phone, 1); }', reduce: '_count' },
  },
  lists: { rows: 'function () { var row; while ((row = getRow())) send(JSON.stringify(row)); }' },
  shows: { doc: 'function (doc) { return JSON.stringify(doc); }' },
  updates: { touch: 'function (doc) { return [null, JSON.stringify(doc)]; }' },
  filters: { any: 'function () { return true; }' },
  rewrites: [
    { from: '/rows', to: '_view/all' },
    { from: '/list', to: '_list/rows/all' },
    { from: '/everybody', to: '../../_all_docs', query: { include_docs: 'true' } },
    { from: '/x', to: '_view/all' },
  ],
};

let clients: Record<'anonymous' | 'other' | 'bob' | 'dbAdmin' | 'server', HttpClient>;

before(async () => {
  await openUsers(admin);
  await admin.put('/_users/_security', { admins: { names: ['dba'], roles: ['_admin'] }, members: {} });
  const bob = await addUser(admin, 'bob', { phone: secret });
  const other = await addUser(admin, 'other');
  const dbAdmin = await addUser(admin, 'dba');
  clients = { anonymous: admin.anonymous, other, bob, dbAdmin, server: admin };
  assertOk(await admin.put('/_users/_design/app', app), 201);
  const index = { index: { fields: ['phone'] }, name: 'byphone', ddoc: 'idx' };
  assertOk(await admin.post('/_users/_index', index), 200);
  assertOk(await admin.put('/_users/_local/x', { secret: localSecret }), 201);
  const rev = (await admin.get(userPath('bob'))).body._rev as string;
  const face = { raw: secret, headers: { 'content-type': 'text/plain' } };
  assertOk(await admin.send('PUT', `${userPath('bob')}/face?rev=${rev}`, face), 201);
});

const names: Readonly<Record<string, string>> = {
  '{ddoc}': 'app',
  '{other-ddoc}': 'app',
  '{view}': 'all',
  '{docid}': 'org.couchdb.user:bob',
  '{attname}': 'face',
  '{partition}': 'org.couchdb.user',
};

const functions: readonly (readonly [string, string])[] = [
  ['_list', 'rows'],
  ['_show', 'doc'],
  ['_update', 'touch'],
];

function pathOf(path: string): string {
  const func = functions.find(([kind]) => path.includes(`/${kind}/`))?.[1] ?? 'x';
  return path
    .replace('/{db}/_local/{docid}', '/_users/_local/x')
    .replace('{db}', '_users')
    .replace('{func}', func)
    .replace(/\{[\w-]+\}/g, (name) => names[name] ?? 'x')
    .replace(/\/\*$/, path.includes('_rewrite') ? '/x' : '/org.couchdb.user:bob');
}

/** Bodies that ask for as much as there is. */
const bodies: readonly object[] = [
  {},
  { selector: { phone: { $gt: '' } } },
  { selector: { _id: { $gt: '' } } },
  { keys: ['org.couchdb.user:bob', 'bob'], include_docs: true },
  { queries: [{ include_docs: true }] },
  { docs: [{ id: 'org.couchdb.user:bob' }, { id: '_local/x' }, { id: '_design/app' }] },
  { docs: [{ _id: '_local/x', taken: true }] },
];

async function ask(client: HttpClient, method: string, path: string): Promise<Answer[]> {
  const full = method === 'GET' ? `${path}?include_docs=true&attachments=true` : path;
  const answers: Answer[] = [];
  const sent = method === 'POST' ? bodies : method === 'PUT' ? [{}] : [undefined];
  for (const json of sent) answers.push(await client.send(method, full, json === undefined ? {} : { json }));
  return answers;
}

describe('Every route of an opened users database', () => {
  for (const { path, method } of accessRows().filter((row) => row.path.startsWith('/{db}'))) {
    test(`${method} ${path} shows and changes nothing of others`, async () => {
      for (const caller of ['anonymous', 'other'] as const) {
        for (const { text, status } of await ask(clients[caller], method, pathOf(path))) {
          assert.ok(status < 500, `${caller}: ${status} ${text}`);
          assert.doesNotMatch(text, /phone-of-bob|checkpoint-of|function \(/, `${caller}: ${text}`);
        }
      }
    });
  }

  test('all of this has left everything as it was', async () => {
    assert.equal((await admin.get('/_users/_local/x')).body.secret, localSecret);
    assert.equal((await clients.bob.get(userPath('bob'))).body.phone, secret);
    assert.equal((await admin.get('/_users/_design/app/_view/all')).body.rows.length, 3);
  });
});

describe('What is made of design documents', () => {
  const paths = [
    '/_users/_design/app',
    '/_users/_design/app/_info',
    '/_users/_design/app/_view/all',
    '/_users/_design/app/_view/all?key="nosuch"',
    '/_users/_design/app/_view/all?update=false',
    '/_users/_design/app/_view/sum',
    '/_users/_design/app/_view/sum?group=true',
    '/_users/_design/idx/_view/byphone',
    '/_users/_design/app/_list/rows/all',
    '/_users/_design/app/_list/rows/app/all',
    '/_users/_design/app/_rewrite/rows',
    '/_users/_design/app/_rewrite/list',
    '/_users/_design/app/_show/doc/_design/app',
    '/_users/_index',
  ];
  const posts: [string, object][] = [
    ['/_users/_design/app/_view/all', { keys: ['bob'] }],
    ['/_users/_design/app/_view/all/queries', { queries: [{}, {}] }],
    ['/_users/_design/app/_list/rows/all', { keys: ['bob'] }],
    ['/_users/_find', { selector: { phone: { $gt: '' } }, fields: ['phone'] }],
    ['/_users/_find', { selector: { phone: { $gt: '' } }, use_index: 'idx' }],
    ['/_users/_explain', { selector: { phone: { $gt: '' } } }],
  ];

  for (const caller of ['anonymous', 'other', 'bob'] as const) {
    test(`is refused to ${caller}, who is no admin`, async () => {
      for (const path of paths) {
        const answer = await clients[caller].get(path);
        assert.equal(`${answer.status} ${answer.body.reason}`, `403 ${designReason}`, path);
      }
      for (const [path, body] of posts) {
        const answer = await clients[caller].post(path, body);
        assert.equal(`${answer.status} ${answer.body.reason}`, `403 ${designReason}`, path);
      }
      assertRefused(await clients[caller].get('/_users/_design/app/_rewrite/everybody'), 401);
      // Tags of what one may not see tell nothing either.
      const { headers } = await admin.get('/_users/_design/app/_view/all');
      const tagged = await clients[caller].get('/_users/_design/app/_view/all', {
        'if-none-match': headers['etag'] as string,
      });
      assert.equal(tagged.status, 403);
    });
  }

  for (const caller of ['dbAdmin', 'server'] as const) {
    test(`is shown to ${caller}`, async () => {
      for (const path of paths) assertOk(await clients[caller].get(path), 200);
      for (const [path, body] of posts) assertOk(await clients[caller].post(path, body), 200);
      const { body } = await clients[caller].get('/_users/_design/app/_view/all?key="bob"');
      assert.equal(body.rows[0].value, secret);
    });
  }

  test('functions see what their caller may see', async () => {
    const show = '/_users/_design/app/_show/doc/org.couchdb.user:bob';
    const update = '/_users/_design/app/_update/touch/org.couchdb.user:bob';
    for (const caller of ['anonymous', 'other'] as const) {
      assert.equal((await clients[caller].get(show)).text, 'null');
      assert.equal((await clients[caller].post(update, {})).text, 'null');
    }
    for (const caller of ['bob', 'dbAdmin', 'server'] as const) {
      assert.match((await clients[caller].get(show)).text, new RegExp(secret));
      assert.match((await clients[caller].post(update, {})).text, new RegExp(secret));
    }
  });

  test('a scan of the documents finds the own one', async () => {
    const found = async (client: HttpClient): Promise<string[]> => {
      const { body } = await client.post('/_users/_find', { selector: { type: 'user' }, fields: ['name'] });
      return (body.docs as { name: string }[]).map(({ name }) => name).sort();
    };
    assert.deepEqual(await found(clients.anonymous), []);
    assert.deepEqual(await found(clients.bob), ['bob']);
    assert.deepEqual(await found(clients.dbAdmin), ['bob', 'dba', 'other']);
  });
});

describe('Local documents of the users database', () => {
  test('are for its admins, whichever way they come', async () => {
    for (const caller of ['anonymous', 'other', 'bob'] as const) {
      const client = clients[caller];
      const status = caller === 'anonymous' ? 401 : 403;
      const writes = [
        await client.get('/_users/_local/x'),
        await client.get('/_users/_local/nosuch'),
        await client.put('/_users/_local/x', { taken: true }),
        await client.put('/_users/_local/y', {}),
        await client.delete('/_users/_local/x'),
        await client.copy('/_users/_local/x', 'org.couchdb.user:bob'),
        await client.post('/_users', { _id: '_local/x', taken: true }),
      ];
      for (const answer of writes)
        assert.equal(`${answer.status} ${answer.body.reason}`, `${status} ${notAdminReason}`);
      const docs = [{ _id: '_local/x', taken: true }];
      const bulk = await client.post('/_users/_bulk_docs', { docs });
      assert.equal(`${bulk.status} ${bulk.body.reason}`, `${status} ${notAdminReason}`);
      const forced = await client.post('/_users/_bulk_docs', { docs, new_edits: false });
      assert.doesNotMatch(forced.text, /"ok"/);
      assertRefused(await client.get('/_users/_local_docs'), 401);
    }
    const copy = await clients.bob.copy(userPath('bob'), '_local/copy');
    assert.equal(`${copy.status} ${copy.body.reason}`, `403 ${notAdminReason}`);
    assertOk(await clients.bob.post('/_users?batch=ok', { _id: '_local/x', taken: true }), 202);
    await admin.post('/_users/_ensure_full_commit', {});
    assert.equal((await clients.dbAdmin.get('/_users/_local/x')).body.secret, localSecret);
    assertRefused(await admin.get('/_users/_local/y'), 404);
    assertRefused(await admin.get('/_users/_local/copy'), 404);
    for (const client of [clients.dbAdmin, admin]) {
      assertOk(await client.put('/_users/_local/mine', {}), 201);
      assertOk(await client.delete('/_users/_local/mine'), 200);
    }
  });

  test('stay so where the database is public', async () => {
    await setOption(admin, 'chttpd_auth/public_fields', 'name');
    await setOption(admin, 'chttpd_auth/users_db_public', 'true');
    assertOk(await clients.bob.get('/_users/_all_docs'), 200);
    assertRefused(await clients.bob.get('/_users/_local_docs?include_docs=true'), 403);
    assertRefused(await clients.bob.get('/_users/_local/x'), 403);
    assertRefused(await clients.bob.get('/_users/_design/app/_view/all'), 403);
    await resetOption(admin, 'chttpd_auth/users_db_public');
    await resetOption(admin, 'chttpd_auth/public_fields');
  });

  test('of other databases are for their members', async () => {
    await admin.put('/plain');
    assertOk(await clients.anonymous.put('/plain/_local/x', {}), 201);
    assertOk(await clients.anonymous.get('/plain/_local_docs'), 200);
  });
});

describe('Revisions of hidden documents', () => {
  test('are not told', async () => {
    const rev = (await admin.get(userPath('bob'))).body._rev as string;
    const asked = { 'org.couchdb.user:bob': [rev, '9-abc'] };
    for (const [client, isKnown] of [
      [clients.anonymous, false],
      [clients.other, false],
      [clients.bob, true],
      [admin, true],
    ] as const) {
      const diff = (await client.post('/_users/_revs_diff', asked)).body['org.couchdb.user:bob'];
      assert.deepEqual(diff.missing, isKnown ? ['9-abc'] : [rev, '9-abc']);
      assert.equal(diff.possible_ancestors !== undefined, isKnown);
      const { missing_revs: missing } = (await client.post('/_users/_missing_revs', asked)).body;
      assert.equal(missing['org.couchdb.user:bob'].length, isKnown ? 1 : 2);
    }
  });

  test('nor is what was purged', async () => {
    await addUser(admin, 'gone');
    const { _rev } = (await admin.get(userPath('gone'))).body;
    assertOk(await admin.post('/_users/_purge', { 'org.couchdb.user:gone': [_rev] }), 201);
    assertRefused(await clients.anonymous.get('/_users/_purged_infos'), 401);
    assertRefused(await clients.bob.get('/_users/_purged_infos'), 401);
    assert.match((await admin.get('/_users/_purged_infos')).text, /user:gone/);
  });
});

test('a user signs up and writes the own document all the same', async () => {
  assertOk(await clients.anonymous.put(userPath('new'), userDoc('new', { password: 'pw' })), 201);
  const own = admin.as('new:pw');
  const doc = (await own.get(userPath('new'))).body as object;
  assertOk(await own.put(userPath('new'), { ...doc, phone: '1' }), 201);
});
