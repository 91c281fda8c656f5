import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Answer } from '../support/http-client.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';
import { accessRows } from './access-table.js';

const admin = await startServer();
const viewer = admin.as('vic:pw');
const reason = 'You are a viewer of this db: you may read it, but not change it.';
let db: string;

before(async () => {
  await admin.put('/_users/org.couchdb.user:vic', { name: 'vic', roles: [], type: 'user', password: 'pw' });
  db = await newDb(admin);
  await admin.put(`${db}/doc`, { n: 1 });
  await admin.send('PUT', `${db}/with/att`, { raw: 'text', headers: { 'content-type': 'text/plain' } });
  await admin.put(`${db}/_design/d`, {
    views: { all: { map: 'function (doc) { emit(doc._id); }' } },
    updates: { touch: `function (doc) { return [{ _id: 'made' }, 'done']; }` },
    rewrites: [
      { from: '/write', to: '../../made', method: 'PUT' },
      { from: '/read', to: '../../doc', method: 'GET' },
    ],
  });
  await admin.put(`${db}/_security`, { members: { names: ['mia'] }, viewers: { names: ['vic'] } });
});

function assertReadOnly(answer: Answer): void {
  assertRefused(answer, 403, 'forbidden');
  assert.equal(answer.body.reason, reason);
}

describe('A viewer', () => {
  test('reads documents, attachments, listings, views, queries and feeds', async () => {
    for (const path of ['', '/doc', '/with/att', '/_all_docs', '/_changes', '/_security', '/_local_docs'])
      assertOk(await viewer.get(db + path), 200);
    assert.equal((await viewer.get(`${db}/_design/d/_view/all`)).body.rows.length, 2);
    assert.equal((await viewer.post(`${db}/_find`, { selector: { n: 1 } })).body.docs.length, 1);
    assertOk(await viewer.post(`${db}/_bulk_get`, { docs: [{ id: 'doc' }] }), 200);
    assertOk(await viewer.post(`${db}/_revs_diff`, { doc: ['1-a'] }), 200);
    assertOk(await viewer.post(`${db}/_all_docs`, { keys: ['doc'] }), 200);
    assertOk(await viewer.get(`${db}/_design/d/_rewrite/read`), 200);
  });

  test('changes nothing, whichever way it is tried', async () => {
    const { update_seq: seq } = (await admin.get(db)).body;
    assertReadOnly(await viewer.post(db, { n: 2 }));
    assertReadOnly(await viewer.put(`${db}/made`, {}));
    assertReadOnly(await viewer.put(`${db}/made?batch=ok`, {}));
    assertReadOnly(await viewer.put(`${db}/made?new_edits=false`, { _rev: '1-a' }));
    assertReadOnly(await viewer.delete(`${db}/doc?rev=1-x`));
    assertReadOnly(await viewer.send('COPY', `${db}/doc`, { headers: { destination: 'made' } }));
    assertReadOnly(await viewer.send('PUT', `${db}/doc/att`, { raw: 'x' }));
    assertReadOnly(await viewer.delete(`${db}/with/att?rev=1-x`));
    assertReadOnly(await viewer.put(`${db}/_local/made`, {}));
    assertReadOnly(await viewer.delete(`${db}/_local/made`));
    assertReadOnly(await viewer.post(`${db}/_bulk_docs`, { docs: [{ _id: 'made' }] }));
    assertReadOnly(
      await viewer.post(`${db}/_bulk_docs`, { docs: [{ _id: 'made', _rev: '1-a' }], new_edits: false }),
    );
    assertReadOnly(await viewer.post(`${db}/_design/d/_update/touch`));
    assertReadOnly(await viewer.put(`${db}/_design/d/_update/touch/doc`));
    assertReadOnly(await viewer.put(`${db}/_design/d/_rewrite/write`, {}));
    for (const [path, body] of [
      ['_security', {}],
      ['_design/e', {}],
      ['_revs_limit', 5],
    ] as const)
      assertRefused(await viewer.put(`${db}/${path}`, body), 403, 'forbidden');
    assertRefused(await viewer.post(`${db}/_index`, { index: { fields: ['n'] } }), 403, 'forbidden');
    assertRefused(await viewer.post(`${db}/_purge`, { doc: ['1-x'] }), 401, 'unauthorized');
    assert.equal((await admin.get(db)).body.update_seq, seq);
    assert.deepEqual((await admin.get(`${db}/_local_docs`)).body.rows, []);
  });

  test('is refused by every method of every route that is not known to read', () => {
    const reading = accessRows().filter(
      ({ access, method }) =>
        ['member', 'listing', 'local', 'local_listing'].includes(access) && method !== 'GET',
    );
    const reads =
      /_docs$|\/queries$|_bulk_get$|_revs_diff$|_missing_revs$|_find(\/\*)?$|_explain(\/\*)?$|_view\/\{view\}$|_search\/\{index\}$|_nouveau\/\{index\}$|_show\b|_list\b|_rewrite\/\*$|_changes$/;
    // These change nothing: they answer an error, or that writes are on disk.
    const others = [
      '_temp_view',
      '_ensure_full_commit',
      '_index/*',
      '_partition/{partition}/*',
      '{db}/_partition',
      '_update',
    ];
    const unknown = reading.filter(
      ({ path }) => !reads.test(path) && !others.some((end) => path.endsWith(end)),
    );
    assert.deepEqual(unknown, []);
  });

  test('is named by lists of names and roles', async () => {
    for (const viewers of [[], 'vic', { names: 'vic' }, { roles: [1] }, null])
      assertRefused(await admin.put(`${db}/_security`, { viewers }), 400, 'bad_request');
  });
});
