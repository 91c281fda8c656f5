import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { createServer } from '../src/server/create-server.js';
import { checkClosedFolder } from './crash/closed-folder.js';
import * as expected from './fixtures/contents.js';
import { assertOk, assertRefused, revOf } from './support/expect.js';
import { HttpClient, type Answer } from './support/http-client.js';
import { startServer, temporaryFolder } from './support/server.js';

/** A folder that was written by the first server of format 1: every later one has to read it. */
const stored = path.resolve('test/fixtures/data-v1');
const { databases, pathOf, docPath } = expected;

const isThere = fs.existsSync(path.join(stored, 'tuffet.json'));

/** A copy of the folder: opening changes it. */
function copied(): string {
  const folder = temporaryFolder();
  if (isThere) fs.cpSync(stored, folder, { recursive: true });
  return folder;
}

const dataDir = copied();
if (isThere) await checkClosedFolder(dataDir);
const client = await startServer({ dataDir });

test('the stored data folder is there', () => {
  assert.ok(
    isThere,
    'test/fixtures/data-v1 is missing: make it by node dist/test/fixtures/make-data-folder.js test/fixtures/data-v1',
  );
  const files = fs.readdirSync(stored, { recursive: true }) as string[];
  assert.deepEqual(
    files.filter((name) => /lock|\.ini$/.test(name)),
    [],
    'neither locks nor configuration are stored',
  );
});

async function get(at: string): Promise<Answer['body']> {
  const answer = await client.get(at);
  assertOk(answer, 200);
  return answer.body;
}

describe('a server opens a folder of format 1', { skip: !isThere }, () => {
  test('with the id of the server and the names of the databases', async () => {
    const { uuid } = JSON.parse(fs.readFileSync(path.join(stored, 'tuffet.json'), 'utf8')) as {
      uuid: string;
    };
    assert.equal((await get('/')).uuid, uuid);
    assert.deepEqual(await get('/_all_dbs'), Object.values(databases).sort());
    for (const [name, q] of Object.entries(expected.shards))
      assert.equal((await get(pathOf(name))).cluster.q, q, name);
    assert.deepEqual((await get(pathOf(databases.partitioned))).props, { partitioned: true });
    assert.equal((await get(docPath(databases.oddName, 'a/b'))).here, true);
  });

  test('small documents, edited, deleted and begun anew', async () => {
    const generations = { created: 1, edited: 2, deleted: 2, anew: 3 };
    for (const [n, id] of expected.plainIds.entries()) {
      const life = expected.lifeOf(n);
      const answer = await client.get(docPath(databases.plain, id));
      if (life === 'deleted') assertRefused(answer, 404, 'not_found');
      else {
        assert.match(answer.body._rev as string, revOf(generations[life]));
        assert.deepEqual(answer.body, { _id: id, _rev: answer.body._rev, ...expected.plainBody(n) });
      }
    }
    const alive = expected.plainIds.filter((_, n) => expected.lifeOf(n) !== 'deleted');
    const info = await get(pathOf(databases.plain));
    assert.equal(info.doc_count, alive.length + 1);
    assert.equal(info.doc_del_count, expected.plainIds.length - alive.length);
    const { rows } = await get(`${pathOf(databases.plain)}/_all_docs`);
    assert.deepEqual(
      rows.map((row: { id: string }) => row.id),
      ['_design/all', ...alive],
    );
  });

  test('a design document and local documents', async () => {
    const design = await get(docPath(databases.plain, '_design/all'));
    assert.deepEqual(design.views, expected.designDoc.views);
    for (const [id, body] of Object.entries(expected.localDocs))
      assert.deepEqual(await get(docPath(databases.plain, id)), { _id: id, _rev: '0-1', ...body });
    assertRefused(await client.get(docPath(databases.plain, expected.removedLocalDoc)), 404);
    const { rows } = await get(`${pathOf(databases.plain)}/_local_docs`);
    assert.equal(rows.length, Object.keys(expected.localDocs).length);
  });

  test('bodies of all sizes', async () => {
    for (const size of expected.bodySizes) {
      const { pad } = await get(docPath(databases.bodies, `size-${size}`));
      assert.equal(pad, 'x'.repeat(size));
    }
  });

  test('conflicts, with the bodies of all leaves', async () => {
    for (const { _id, _rev, _revisions, ...body } of expected.histories) {
      const found = await get(
        `${docPath(databases.conflicts, _id)}?rev=${encodeURIComponent(_rev)}&revs=true`,
      );
      assert.deepEqual(found, { _id, _rev, ...body, _revisions });
    }
    const leaves = await get(`${docPath(databases.conflicts, 'three')}?conflicts=true`);
    assert.equal(leaves.of, 'c');
    assert.deepEqual(leaves._conflicts, [`2-${'b'.repeat(32)}`, `2-${'a'.repeat(32)}`]);
    const deleted = await get(`${docPath(databases.conflicts, 'one-deleted')}?deleted_conflicts=true`);
    assert.deepEqual(deleted._deleted_conflicts, [`3-${'d'.repeat(32)}`]);
    assertRefused(await client.get(docPath(databases.conflicts, 'all-deleted')), 404);
    assert.deepEqual((await get(`${docPath(databases.conflicts, 'two-roots')}?conflicts=true`))._conflicts, [
      '5-é',
    ]);
  });

  test('limits, and a history that was cut by them', async () => {
    const db = pathOf(databases.limits);
    assert.equal(await get(`${db}/_revs_limit`), expected.revsLimit);
    assert.equal(await get(`${db}/_purged_infos_limit`), expected.purgedInfosLimit);
    const { n, _revisions } = await get(`${db}/cut?revs=true`);
    assert.equal(n, expected.editsOfCut);
    assert.equal(_revisions.start, expected.editsOfCut);
    assert.equal(_revisions.ids.length, expected.revsLimit);
  });

  test('what was purged, and the memory of it', async () => {
    const db = pathOf(databases.purged);
    assertRefused(await client.get(`${db}/whole`), 404);
    const three = await get(`${db}/three?conflicts=true`);
    assert.deepEqual([three.of, three._conflicts], ['b', [`2-${'a'.repeat(32)}`]]);
    assert.equal((await get(db)).doc_count, 2);
    const { purged_infos } = await get(`${db}/_purged_infos`);
    assert.deepEqual(purged_infos.map(({ id }: { id: string }) => id).sort(), ['three', 'whole']);
  });

  test('ids that are too long for a key', async () => {
    const { live, edited, deleted } = expected.longIds;
    assert.equal((await get(docPath(databases.longIds, live))).n, 1);
    assert.equal((await get(docPath(databases.longIds, edited))).n, 2);
    assertRefused(await client.get(docPath(databases.longIds, deleted)), 404);
    const { rows } = await get(`${pathOf(databases.longIds)}/_all_docs`);
    assert.deepEqual(rows.map((row: { id: string }) => row.id).sort(), [live, edited]);
    const { _revs_info } = await get(`${docPath(databases.longIds, edited)}?revs_info=true`);
    assert.equal(_revs_info.length, 2);
  });

  test('attachments, small and large', async () => {
    for (const [id, names] of Object.entries(expected.attached)) {
      const { _attachments = {} } = await get(`${docPath(databases.attachments, id)}?attachments=true`);
      assert.deepEqual(Object.keys(_attachments as object).sort(), names);
      for (const name of names) {
        const { type, bytes } = expected.attachments[name];
        assert.equal(_attachments[name].content_type, type);
        assert.ok(_attachments[name].data === bytes.toString('base64'), `${id}/${name}`);
      }
    }
  });

  test('the security object', async () => {
    assert.deepEqual(await get(`${pathOf(databases.guarded)}/_security`), expected.security);
    assertRefused(await client.anonymous.get(docPath(databases.guarded, 'secret')), 401);
  });
});

test('a folder of format 1 can be written, compacted and opened again', { skip: !isThere }, async () => {
  const folder = copied();
  const options = { dataDir: folder, admins: { admin: 'secret' }, port: 0, logLevel: 'none' as const };
  const large = `${docPath(databases.attachments, 'all')}/large`;
  let rev = '';
  for (const run of [1, 2]) {
    const server = await createServer({
      ...options,
      config: { chttpd_auth: { iterations: '10', min_iterations: '10' } },
    });
    const writer = new HttpClient(server.url);
    const at = docPath(databases.conflicts, 'three');
    const old = (await writer.get(at)).body;
    if (run === 2) assert.equal(old._rev, rev);
    const saved = await writer.put(at, { ...old, run });
    assertOk(saved, 201);
    rev = saved.body.rev as string;
    for (const name of Object.values(databases)) assertOk(await writer.post(`${pathOf(name)}/_compact`), 202);
    const plain = docPath(databases.plain, expected.plainIds[run - 1]!);
    assertOk(await writer.delete(`${plain}?rev=${(await writer.get(plain)).body._rev}`), 200);
    // Closing waits for connections that are kept alive.
    assertOk(await writer.get(large, { connection: 'close' }), 200);
    await server.close();
    await checkClosedFolder(folder);
  }
});
