import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { json } from 'node:stream/consumers';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const count = 3_000;
const db = await newDb(client);

const hashOf = (text: string): string => createHash('md5').update(text).digest('hex');
/** Best first. */
const revs = Array.from({ length: count }, (_, i) => `1-${hashOf(`conflict ${i}`)}`)
  .sort()
  .reverse();

// Each of these requests would take minutes if it cost the whole tree for every revision in it.
test('thousands of conflicts arrive in one request', async () => {
  const docs = revs.map((_rev, i) => ({ _id: 'c', _rev, i }));
  const { status, body } = await client.post(`${db}/_bulk_docs`, { new_edits: false, docs });
  assert.equal(status, 201);
  assert.deepEqual(body, []);
  const read = await client.get(`${db}/c?conflicts=true`);
  assert.equal(read.body._rev, revs[0]);
  assert.deepEqual(read.body._conflicts, revs.slice(1));
});

test('the revisions of an answer are sorted once, in slices', async (t) => {
  const large = await newDb(client);
  const docs = Array.from({ length: 10_000 }, (_, i) => ({ _id: 'c', _rev: `1-${hashOf(`large ${i}`)}` }));
  await client.post(`${large}/_bulk_docs`, { new_edits: false, docs });
  const lengths: number[] = [];
  const { sort } = Array.prototype;
  t.after(() => (Array.prototype.sort = sort));
  Array.prototype.sort = function (compare) {
    lengths.push(this.length);
    return sort.call(this, compare);
  };
  const { body } = await client.get(`${large}/c?open_revs=all`);
  Array.prototype.sort = sort;
  assert.equal(body.length, docs.length);
  assert.ok(Math.max(...lengths) < 5_000, `${Math.max(...lengths)} revisions were sorted in one go`);
  const total = lengths.reduce((sum, each) => sum + each, 0);
  assert.ok(total < 15_000, `${total} revisions were sorted`);
});

test('revisions that are superseded while an answer is sent are answered by what continues them', async () => {
  const written = await newDb(client);
  const pad = 'x'.repeat(200_000);
  const leaves = Array.from({ length: 200 }, (_, i) => `1-${hashOf(`leaf ${i}`)}`);
  for (let from = 0; from < leaves.length; from += 50) {
    const docs = leaves.slice(from, from + 50).map((_rev) => ({ _id: 'c', _rev, pad }));
    await client.post(`${written}/_bulk_docs`, { new_edits: false, docs });
  }
  const [answer] = (await once(
    http.get(`${client.url}${written}/c?open_revs=all`, {
      auth: 'admin:secret',
      headers: { Accept: 'application/json' },
    }),
    'response',
  )) as [http.IncomingMessage];
  const docs = leaves.map((_rev) => ({ _id: 'c', _rev, isNew: true }));
  await client.post(`${written}/_bulk_docs`, { docs });
  await client.post(`${written}/_compact`, {});
  while ((await client.get(`${written}/c?rev=${leaves[0]}`)).status !== 404) await sleep(20);
  const found = (await json(answer)) as { ok?: { _rev: string; isNew?: true } }[];
  assert.equal(found.length, leaves.length);
  assert.ok(found.every(({ ok }) => ok !== undefined));
  const added = found.filter(({ ok }) => ok!.isNew).length;
  assert.ok(added > 0 && added < leaves.length, `${added} of ${leaves.length} are new`);
});

test('revisions that are asked for twice are answered once, missing ones last', async () => {
  const missing = `1-${hashOf('none')}`;
  const asked = [revs[0], missing, revs[9], revs[0], missing];
  const { body } = await client.get(`${db}/c?open_revs=${JSON.stringify(asked)}`);
  assert.deepEqual(
    body.map((each: { ok?: { _rev: string }; missing?: string }) => each.ok?._rev ?? each.missing),
    [...[revs[0], revs[9]].sort(), missing],
  );
  const latest = await client.get(`${db}/c?latest=true&open_revs=${JSON.stringify([revs[4], revs[3]])}`);
  assert.deepEqual(
    latest.body.map(({ ok }: { ok: { _rev: string } }) => ok._rev),
    [revs[4], revs[3]],
  );
});

test('thousands of revisions of one document are compared in slices', async (t) => {
  const absent = Array.from({ length: 10_000 }, (_, i) => `2-${hashOf(`absent ${i}`)}`);
  const asked = [...absent, ...revs];
  const lengths: number[] = [];
  const { sort } = Array.prototype;
  t.after(() => (Array.prototype.sort = sort));
  Array.prototype.sort = function (compare) {
    lengths.push(this.length);
    return sort.call(this, compare);
  };
  const { body } = await client.post(`${db}/_revs_diff`, { c: asked, none: asked.slice(0, 3) });
  Array.prototype.sort = sort;
  assert.deepEqual(body.c.missing, absent.toSorted());
  assert.equal(body.c.possible_ancestors.length, revs.length);
  assert.deepEqual(body.none.missing, asked.slice(0, 3));
  assert.ok(Math.max(...lengths) < 5_000, `${Math.max(...lengths)} revisions were sorted in one go`);
  const missing = await client.post(`${db}/_missing_revs`, { c: asked });
  assert.deepEqual(missing.body.missing_revs.c, absent.toSorted());
  const present = await client.post(`${db}/_revs_diff`, { c: revs });
  assert.deepEqual(present.body, {});
  const wrong = await client.post(`${db}/_revs_diff`, { c: [...asked, 7] });
  assert.deepEqual([wrong.status, wrong.body.reason], [400, 'Invalid rev format']);
});

test('all of them are read', async () => {
  const all = await client.get(`${db}/c?open_revs=all`);
  assert.deepEqual(
    all.body.map(({ ok }: { ok: { _rev: string } }) => ok._rev),
    revs.toSorted(),
  );
  const docs = revs.map((rev) => ({ id: 'c', rev }));
  const bulk = await client.post(`${db}/_bulk_get?latest=true&revs=true`, { docs });
  assert.deepEqual(
    bulk.body.results.map((row: { docs: { ok: { i: number } }[] }) => row.docs[0]!.ok.i),
    revs.map((_, i) => i),
  );
  const changes = await client.get(`${db}/_changes?style=all_docs`);
  assert.deepEqual(
    changes.body.results[0].changes.map(({ rev }: { rev: string }) => rev),
    revs,
  );
  const diff = await client.post(`${db}/_revs_diff`, { c: [...revs, '2-x'] });
  assert.deepEqual(diff.body, { c: { missing: ['2-x'], possible_ancestors: revs } });
});

test('a validation function sees each, and others are told apart', async () => {
  const guarded = await newDb(client);
  const validate = "function (doc) { if (doc.i % 1000 === 7) throw {forbidden: 'no'}; }";
  await client.put(`${guarded}/_design/v`, { validate_doc_update: validate });
  const docs = revs.map((_rev, i) => ({ _id: 'c', _rev, i }));
  const { body } = await client.post(`${guarded}/_bulk_docs`, { new_edits: false, docs });
  assert.equal(body.length, 3);
  const again = await client.post(`${guarded}/_bulk_docs`, { new_edits: false, docs });
  assert.equal(again.body.length, 3);
});

test('they are replicated, here and over the network', async () => {
  const body = { source: db.slice(1), target: 'local-copy', create_target: true };
  const source = `${client.urlWithCredentials}${db}`;
  for (const target of ['local-copy', 'remote-copy']) {
    const request = target === 'local-copy' ? body : { ...body, source, target };
    const { status, body: result } = await client.post('/_replicate', request);
    assert.equal(status, 200);
    assert.equal(result.history[0].docs_written, count);
    const read = await client.get(`/${target}/c?conflicts=true`);
    assert.deepEqual([read.body._rev, ...read.body._conflicts], revs);
  }
});

test('single edits, compaction and purges go on', async () => {
  const edited = await client.put(`${db}/c`, { _rev: revs[0], edited: true });
  assert.equal(edited.status, 201);
  await client.post(`${db}/_compact`);
  while ((await client.get(db)).body.compact_running) await sleep(20);
  assert.equal((await client.get(`${db}/c?rev=${revs[0]}`)).status, 404);
  assert.equal((await client.get(`${db}/c?rev=${revs[1]}`)).status, 200);
  const purged = await client.post('/local-copy/_purge', { c: revs.slice(1) });
  assert.equal(purged.body.purged.c.purged.length, count - 1);
  assert.equal((await client.get('/local-copy/c?conflicts=true')).body._conflicts, undefined);
});

test('they are deleted in one request', async () => {
  const docs = revs.slice(1).map((_rev) => ({ _id: 'c', _rev, _deleted: true }));
  const { body } = await client.post(`${db}/_bulk_docs`, { docs });
  assert.ok(body.every(({ ok }: { ok?: boolean }) => ok));
  const read = await client.get(`${db}/c?conflicts=true&deleted_conflicts=true`);
  assert.equal(read.body._conflicts, undefined);
  assert.equal(read.body._deleted_conflicts.length, count - 1);
});

test('a hundred branches of a thousand revisions arrive in one request', async () => {
  const docs = Array.from({ length: 100 }, (_, branch) => {
    const ids = Array.from({ length: 1_000 }, (_, i) => hashOf(`${branch} ${i}`));
    return { _id: 'wide', _rev: `1000-${ids[0]}`, _revisions: { start: 1_000, ids } };
  });
  const { status } = await client.post(`${db}/_bulk_docs`, { new_edits: false, docs });
  assert.equal(status, 201);
  const { body } = await client.get(`${db}/wide?open_revs=all&revs=true`);
  assert.equal(body.length, 100);
  assert.ok(
    body.every(({ ok }: { ok: { _revisions: { ids: unknown[] } } }) => ok._revisions.ids.length === 1_000),
  );
});
