import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createServer } from '../../src/index.js';
import { tuffet } from '../operations/cli.js';
import { HttpClient } from '../support/http-client.js';
import { newDb, temporaryFolder } from '../support/server.js';
import { ranges, split, splitAll, until } from './reshard.js';

const dataDir = temporaryFolder();
const server = await createServer({ dataDir, admins: { admin: 'secret' }, port: 0, logLevel: 'none' });
const client = new HttpClient(server.url);

/** Bodies that stand in the record, and others that stand beside it. */
const pads = ['', 'x'.repeat(2_000)];
const ids = Array.from({ length: 60 }, (_, n) => `doc-${n}`);

describe('a split keeps', () => {
  it('what is known of an index that is not up to date with it', async () => {
    const db = await newDb(client, '?q=1');
    const map = 'function (doc) { emit(doc._id); }';
    await client.put(`${db}/_design/v`, { autoupdate: false, views: { v: { map } } });
    await client.put(`${db}/one`, {});
    await client.get(`${db}/_design/v/_view/v`);
    await splitAll(client, db);
    const { status, body } = await client.get(`${db}/_design/v/_info`);
    assert.equal(status, 200);
    assert.equal(body.view_index.updates_pending.total, 0);
  });

  it('which design documents have validation functions, though their shards have other numbers', async () => {
    const db = await newDb(client, '?q=2');
    const high = '80000000-ffffffff';
    const names: string[] = [];
    for (let n = 0; names.length < 2; n++) {
      const { body } = await client.get(`${db}/_shards/_design%2Fd${n}`);
      if (body.range === high) names.push(`_design/d${n}`);
    }
    // The second change of the shard 1 of 2 had the number that the first change of the shard 1 of 4 has.
    await client.put(`${db}/${names[0]}`, {});
    const rules = 'function () { throw { forbidden: "no" }; }';
    const { body: saved } = await client.put(`${db}/${names[1]}`, { validate_doc_update: rules });
    assert.equal((await client.put(`${db}/a`, {})).status, 403);
    for (const id of await split(client, db, { range: '00000000-7fffffff' }))
      await until(client, id, 'completed');
    assert.equal((await client.put(`${db}/a`, {})).status, 403);
    await client.delete(`${db}/${names[1]}?rev=${saved.rev}`);
    assert.equal((await client.put(`${db}/a`, {})).status, 201);
  });

  it('bodies, histories, conflicts and deletions, also those of older revisions', async () => {
    const db = await newDb(client, '?q=1');
    const revs = new Map<string, string[]>();
    for (const round of [1, 2, 3]) {
      const docs = ids.map((_id, n) => {
        const _rev = revs.get(_id)?.at(-1);
        return { _id, ...(_rev && { _rev }), round, pad: pads[(n + round) % 2] };
      });
      for (const { id, rev } of (await client.post(`${db}/_bulk_docs`, { docs })).body as {
        id: string;
        rev: string;
      }[])
        revs.set(id, [...(revs.get(id) ?? []), rev]);
      if (round === 2) await splitAll(client, db);
    }
    const other = { _id: 'doc-7', _rev: `2-${'f'.repeat(32)}`, other: true, pad: pads[1] };
    await client.post(`${db}/_bulk_docs`, { docs: [other], new_edits: false });
    await client.delete(`${db}/doc-8?rev=${revs.get('doc-8')!.at(-1)}`);
    await splitAll(client, db);
    assert.equal((await ranges(client, db)).length, 4);
    for (const [n, id] of ids.entries()) {
      for (const [at, rev] of revs.get(id)!.entries()) {
        const { body } = await client.get(`${db}/${id}?rev=${rev}`);
        assert.deepEqual([body.round, body.pad], [at + 1, pads[(n + at + 1) % 2]], `${id} ${rev}`);
      }
    }
    assert.deepEqual((await client.get(`${db}/doc-7?conflicts=true`)).body._conflicts, [other._rev]);
    assert.equal((await client.get(`${db}/doc-8`)).status, 404);
    const { body: info } = await client.get(db);
    assert.deepEqual([info.doc_count, info.doc_del_count, info.cluster.q], [ids.length - 1, 1, 4]);
    assert.equal((await client.get(`${db}/_all_docs`)).body.total_rows, ids.length - 1);
    // What is kept in place can be compacted away from there.
    assert.equal((await client.post(`${db}/_compact`)).status, 202);
    while ((await client.get(db)).body.compact_running)
      await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal((await client.get(`${db}/doc-1?rev=${revs.get('doc-1')![0]}`)).status, 404);
    assert.equal((await client.get(`${db}/doc-1`)).body.round, 3);
  });

  it('attachments, for as long as a revision names them', async () => {
    const db = await newDb(client, '?q=1');
    const data = Buffer.alloc(100_000, 'large').toString('base64');
    const docs = ids.map((_id) => ({ _id, _attachments: { a: { content_type: 'image/png', data } } }));
    await client.post(`${db}/_bulk_docs`, { docs });
    const { external } = (await client.get(db)).body.sizes as { external: number };
    await splitAll(client, db);
    assert.equal((await client.get(db)).body.sizes.external, external);
    for (const id of ids.slice(1)) {
      const { body } = await client.get(`${db}/${id}`);
      const { body: gone } = await client.delete(`${db}/${id}?rev=${body._rev}`);
      await client.post(`${db}/_purge`, { [id]: [gone.rev] });
    }
    assert.equal((await client.get(`${db}/doc-0/a`)).text.length, 100_000);
  });

  it('purges, so that views forget what was purged before', async () => {
    const db = await newDb(client, '?q=1');
    await client.post(`${db}/_bulk_docs`, { docs: ids.map((_id, n) => ({ _id, n })) });
    await client.put(`${db}/_design/v`, {
      views: { n: { map: 'function (doc) { emit(doc.n, 1) }', reduce: '_count' } },
    });
    const count = async (): Promise<number> =>
      ((await client.get(`${db}/_design/v/_view/n`)).body.rows[0]?.value ?? 0) as number;
    assert.equal(await count(), ids.length);
    const purge = async (from: number, to: number): Promise<void> => {
      for (const id of ids.slice(from, to))
        await client.post(`${db}/_purge`, { [id]: [(await client.get(`${db}/${id}`)).body._rev] });
    };
    await purge(0, 10);
    await splitAll(client, db);
    assert.equal(await count(), ids.length - 10);
    await purge(10, 15);
    await splitAll(client, db);
    await purge(15, 20);
    assert.equal(await count(), ids.length - 20);
    assert.equal((await client.get(`${db}/_purged_infos`)).body.purged_infos.length, 20);
  });

  it('local documents, settings and partitions', async () => {
    const db = await newDb(client, '?q=1&partitioned=true');
    const docs = ids.map((id, n) => ({ _id: `p${n % 7}:${id}`, n }));
    await client.post(`${db}/_bulk_docs`, { docs });
    await client.put(`${db}/_local/here`, { kept: true });
    await client.put(`${db}/_revs_limit`, 77);
    await splitAll(client, db);
    await splitAll(client, db);
    for (let p = 0; p < 7; p++) {
      const expected = docs.filter(({ _id }) => _id.startsWith(`p${p}:`)).length;
      assert.equal((await client.get(`${db}/_partition/p${p}`)).body.doc_count, expected);
      assert.equal((await client.get(`${db}/_partition/p${p}/_all_docs`)).body.rows.length, expected);
    }
    assert.equal((await client.get(`${db}/_local/here`)).body.kept, true);
    assert.equal((await client.get(`${db}/_revs_limit`)).body, 77);
    assert.equal((await client.put(`${db}/_local/here`, { kept: 'still' })).status, 201);
  });

  it('places of feeds and of indexes, which are not built anew', async () => {
    const db = await newDb(client, '?q=2');
    await client.post(`${db}/_bulk_docs`, { docs: ids.map((_id, n) => ({ _id, n })) });
    await client.put(`${db}/_design/v`, { views: { n: { map: 'function (doc) { emit(doc.n) }' } } });
    await client.get(`${db}/_design/v/_view/n?limit=0`);
    const { body: half } = await client.get(`${db}/_changes?limit=30`);
    const rest = new Set(
      (await client.get(`${db}/_changes?since=${half.last_seq}`)).body.results.map(
        ({ id }: { id: string }) => id,
      ),
    );
    const { body: whole } = await client.get(db);
    await splitAll(client, db);
    await splitAll(client, db);
    const { body } = await client.get(`${db}/_changes?since=${half.last_seq}`);
    assert.deepEqual(new Set(body.results.map(({ id }: { id: string }) => id)), rest);
    assert.deepEqual((await client.get(`${db}/_changes?since=${whole.update_seq}`)).body.results, []);
    assert.ok(
      parseInt((await client.get(db)).body.update_seq as string) >= parseInt(whole.update_seq as string),
    );
    const { body: stale } = await client.get(`${db}/_design/v/_view/n?update=false`);
    assert.equal(stale.rows.length, ids.length);
    const { body: fresh } = await client.get(`${db}/_design/v/_view/n`);
    assert.equal(fresh.rows.length, ids.length);
    const { body: back } = await client.get(`${db}/_changes?descending=true`);
    assert.equal(back.results.length, ids.length + 1);
  });
});

it('splits leave a data folder that is sound', async () => {
  await server.close();
  const { code, stdout, stderr } = await tuffet('check', '--data', dataDir);
  assert.equal(code, 0, stdout + stderr);
});
