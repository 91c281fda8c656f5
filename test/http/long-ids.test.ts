import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused, revOf } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const client = await startServer({ dataDir: temporaryFolder() });

/** An id of so many bytes that ends in `tail`, with characters that need escaping; 5,000 are too many for a key of the store. */
const exactId = (bytes: number, tail: string): string => {
  const start = 'é/ %'.repeat(bytes / 20);
  return start + 'x'.repeat(bytes - Buffer.byteLength(start) - Buffer.byteLength(tail)) + tail;
};

for (const bytes of [1024, 5000]) {
  describe(`Ids of ${bytes} bytes`, () => {
    const id = exactId(bytes, 'a');
    const twin = exactId(bytes, 'b');
    const at = (db: string, name: string): string => `${db}/${encodeURIComponent(name)}`;

    test('differ by their last byte', () => {
      assert.equal(Buffer.byteLength(id), bytes);
      assert.equal(Buffer.byteLength(twin), bytes);
      assert.notEqual(id, twin);
    });

    test('PUT, GET, update, COPY, DELETE and creation anew', async () => {
      const db = await newDb(client);
      const made = await client.put(at(db, id), { of: 'a' });
      assertOk(made, 201);
      assert.equal(made.body.id, id);
      assertRefused(await client.get(at(db, twin)), 404);
      await client.put(at(db, twin), { of: 'b' });
      assert.deepEqual((await client.get(at(db, id))).body, { _id: id, _rev: made.body.rev, of: 'a' });
      assert.equal((await client.get(at(db, twin))).body.of, 'b');
      assertRefused(await client.put(at(db, id), {}), 409);
      const updated = await client.put(at(db, id), { _rev: made.body.rev, of: 'a', n: 2 });
      assertOk(updated, 201);
      assert.equal((await client.get(`${at(db, id)}?rev=${made.body.rev}`)).body.n, undefined);
      assertOk(await client.copy(at(db, id), 'short'), 201);
      assertOk(await client.copy(`${db}/short`, encodeURIComponent(exactId(bytes, 'c'))), 201);
      assertOk(await client.delete(`${at(db, id)}?rev=${updated.body.rev}`), 200);
      assertRefused(await client.get(at(db, id)), 404);
      assert.equal((await client.get(at(db, twin))).body.of, 'b');
      assert.match((await client.put(at(db, id), {})).body.rev, revOf(4));
      assert.equal((await client.get(db)).body.doc_count, 4);
    });

    test('that are alike to the last byte are two rows of a listing, each with its own key', async () => {
      const db = await newDb(client);
      for (const each of [twin, id]) await client.put(at(db, each), { own: each });
      const { rows } = (await client.get(`${db}/_all_docs?include_docs=true`)).body;
      assert.deepEqual(rows.map((row: { id: string }) => row.id).sort(), [id, twin]);
      for (const row of rows) assert.equal(row.doc.own, row.id);
      for (const key of [id, twin]) {
        const found = (await client.post(`${db}/_all_docs`, { key })).body.rows;
        assert.deepEqual(
          found.map((row: { id: string }) => row.id),
          [key],
        );
      }
    });

    test('_bulk_docs, _bulk_get, _all_docs with ranges and keys, _design_docs', async () => {
      const db = await newDb(client);
      const [low, high] = [`f${exactId(bytes - 1, 'a')}`, `g${exactId(bytes - 1, 'a')}`];
      const ids = [high, 'm', low, `_design/${low}`, '~'];
      const bulk = await client.post(`${db}/_bulk_docs`, { docs: ids.map((_id) => ({ _id, own: _id })) });
      assert.deepEqual(
        bulk.body.map((row: { ok: boolean; id: string }) => [row.ok, row.id]),
        ids.map((each) => [true, each]),
      );
      const sorted = [...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      const idsOf = (rows: { id: string }[]): string[] => rows.map((row) => row.id);
      const all = await client.get(`${db}/_all_docs?include_docs=true`);
      assert.deepEqual(idsOf(all.body.rows), sorted);
      for (const { doc } of all.body.rows) assert.equal(doc.own, doc._id);
      const down = await client.get(`${db}/_all_docs?descending=true`);
      assert.deepEqual(idsOf(down.body.rows), [...sorted].reverse());
      const range = await client.post(`${db}/_all_docs`, { startkey: low, endkey: high });
      assert.deepEqual(idsOf(range.body.rows), [low, high]);
      const half = await client.post(`${db}/_all_docs`, {
        startkey: low,
        endkey: high,
        inclusive_end: false,
      });
      assert.deepEqual(idsOf(half.body.rows), [low]);
      const after = await client.post(`${db}/_all_docs`, { startkey: low, skip: 1, limit: 1 });
      assert.deepEqual(idsOf(after.body.rows), [high]);
      const one = await client.post(`${db}/_all_docs`, { key: high });
      assert.deepEqual(idsOf(one.body.rows), [high]);
      const keyed = await client.post(`${db}/_all_docs`, { keys: [high, exactId(bytes, 'z'), low] });
      assert.deepEqual(idsOf(keyed.body.rows), [high, undefined, low]);
      const designs = await client.get(`${db}/_design_docs`);
      assert.deepEqual(idsOf(designs.body.rows), [`_design/${low}`]);
      const got = await client.post(`${db}/_bulk_get`, { docs: [{ id: high }, { id: low }] });
      assert.deepEqual(
        got.body.results.map(({ docs }: { docs: { ok: { own: string } }[] }) => docs[0]!.ok.own),
        [high, low],
      );
    });

    test('_revs_diff, _missing_revs, conflicts, _shards and _purge', async () => {
      const db = await newDb(client);
      const docs = ['1-a', '1-b'].map((_rev) => ({ _id: id, _rev }));
      await client.post(`${db}/_bulk_docs`, { docs, new_edits: false });
      assert.deepEqual((await client.get(`${at(db, id)}?conflicts=true`)).body._conflicts, ['1-a']);
      const diff = await client.post(`${db}/_revs_diff`, { [id]: ['1-a', '2-x'], [twin]: ['1-a'] });
      assert.deepEqual(diff.body[id].missing, ['2-x']);
      assert.deepEqual(diff.body[twin], { missing: ['1-a'] });
      const missing = await client.post(`${db}/_missing_revs`, { [id]: ['1-a', '2-x'] });
      assert.deepEqual(missing.body.missing_revs, { [id]: ['2-x'] });
      assertOk(await client.get(`${db}/_shards/${encodeURIComponent(id)}`), 200);
      const purged = await client.post(`${db}/_purge`, { [id]: ['1-a', '1-b'] });
      assert.deepEqual([...purged.body.purged[id].purged].sort(), ['1-a', '1-b']);
      assertRefused(await client.get(at(db, id)), 404);
      assert.equal((await client.get(db)).body.doc_count, 0);
    });

    test('local documents', async () => {
      const db = await newDb(client);
      const path = `${db}/_local/${encodeURIComponent(id)}`;
      assertOk(await client.put(path, { of: 'a' }), 201);
      assertRefused(await client.get(`${db}/_local/${encodeURIComponent(twin)}`), 404);
      assert.equal((await client.get(path)).body._id, `_local/${id}`);
      await client.put(`${db}/_local/z`, {});
      const listed = await client.get(`${db}/_local_docs`);
      assert.deepEqual(
        listed.body.rows.map((row: { id: string }) => row.id),
        [`_local/${id}`, '_local/z'].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      );
      const keyed = await client.post(`${db}/_local_docs`, { keys: [`_local/${id}`] });
      assert.equal(keyed.body.rows[0].value.rev, '0-1');
      assertOk(await client.delete(`${path}?rev=0-1`), 200);
      assertRefused(await client.get(path), 404);
    });

    test('documents survive a compaction', async () => {
      const db = await newDb(client);
      const { rev } = (await client.put(at(db, id), { n: 1 })).body;
      await client.put(at(db, id), { _rev: rev, n: 2 });
      await client.post(`${db}/_compact`);
      while ((await client.get(db)).body.compact_running);
      assert.equal((await client.get(at(db, id))).body.n, 2);
      assertRefused(await client.get(`${at(db, id)}?rev=${rev}`), 404);
    });
  });
}
