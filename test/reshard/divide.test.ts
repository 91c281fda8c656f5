import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createServer } from '../../src/index.js';
import { checkClosedFolder } from '../crash/closed-folder.js';
import { tuffet } from '../operations/cli.js';
import { HttpClient } from '../support/http-client.js';
import { temporaryFolder } from '../support/server.js';
import { divide, divideAll, splitAll, until, type Job } from './reshard.js';

const map = 'function (doc) { if (doc.n !== undefined) emit(doc.n, 1) }';
const index = "function (doc) { if (doc.n !== undefined) index('default', 'word' + doc.n % 5); }";
const pad = 'x'.repeat(2_000);

async function start(dataDir = temporaryFolder()) {
  const server = await createServer({ dataDir, admins: { admin: 'secret' }, port: 0, logLevel: 'none' });
  return { dataDir, server, client: new HttpClient(server.url) };
}

/** Documents of all kinds, with and without bodies of their own, histories, attachments, conflicts, purges. */
async function fill(client: HttpClient, db: string): Promise<void> {
  const docs = Array.from({ length: 120 }, (_, n) => ({ _id: `doc-${n}`, n, ...(n % 3 === 0 && { pad }) }));
  await client.post(`${db}/_bulk_docs`, { docs });
  await client.put(`${db}/_design/v`, {
    views: { n: { map, reduce: '_sum' } },
    indexes: { words: { index } },
    validate_doc_update: "function (doc) { if (doc.bad) throw ({ forbidden: 'bad' }) }",
  });
  const attached = (data: string) => ({ a: { content_type: 'image/png', data } });
  const small = attached(Buffer.from('small').toString('base64'));
  const large = attached(Buffer.alloc(100_000, 'large').toString('base64'));
  for (let n = 0; n < 20; n++) {
    await client.put(`${db}/small-${n}`, { _attachments: small });
    await client.put(`${db}/large-${n}`, { _attachments: large });
    await client.put(`${db}/_local/l${n}`, { n });
    const { body } = await client.get(`${db}/doc-${n}`);
    await client.put(`${db}/doc-${n}`, { ...body, again: true });
    if (n % 4 === 0) await client.delete(`${db}/doc-${n + 40}?rev=${(await rev(client, db, n + 40)) ?? ''}`);
    if (n % 5 === 0)
      await client.post(`${db}/_purge`, { [`doc-${n + 80}`]: [await rev(client, db, n + 80)] });
  }
  const other = { _id: 'doc-7', _rev: `2-${'f'.repeat(32)}`, other: true, pad };
  await client.post(`${db}/_bulk_docs`, { docs: [other], new_edits: false });
  await client.put(`${db}/${'long'.repeat(600)}`, { n: 1_000 });
}

const rev = async (client: HttpClient, db: string, n: number): Promise<string> =>
  (await client.get(`${db}/doc-${n}`)).body._rev as string;

/** All that clients can see of a database, but for sequences. */
async function contents(client: HttpClient, db: string): Promise<unknown> {
  const get = async (path: string): Promise<unknown> => (await client.get(`${db}/${path}`)).body;
  const changes = (await client.get(`${db}/_changes?style=all_docs&include_docs=true&conflicts=true`)).body;
  const info = (await client.get(db)).body;
  const rows = (changes.results as { id: string }[]).map(({ id, ...row }) => ({ ...row, id, seq: '' }));
  const search = (await client.get(`${db}/_design/v/_search/words?q=word3&limit=200`)).body;
  return {
    changes: rows.sort((a, b) => (a.id < b.id ? -1 : 1)),
    info: [info.doc_count, info.doc_del_count, info.sizes.external, info.cluster.q],
    all: await get('_all_docs?include_docs=true&attachments=true'),
    local: await get('_local_docs?include_docs=true'),
    purged: ((await get('_purged_infos')) as { purged_infos: unknown[] }).purged_infos.length,
    view: await get('_design/v/_view/n?reduce=false'),
    reduced: await get('_design/v/_view/n?group=true'),
    search: [search.total_rows, (search.rows as { id: string }[]).map(({ id }) => id).sort()],
    small: (await client.get(`${db}/small-3/a`)).text,
    large: (await client.get(`${db}/large-3/a`)).text.length,
    older: await get('doc-3?revs=true&revs_info=true&open_revs=all'),
  };
}

describe('a division keeps', () => {
  it('all that a database has, and it can be changed as before', async () => {
    const { dataDir, server, client } = await start();
    assert.equal((await client.put('/db?q=4')).status, 201);
    await fill(client, '/db');
    const half = (await client.get('/db/_changes?limit=70')).body.last_seq as string;
    const ids = async (since: string): Promise<string[]> =>
      ((await client.get(`/db/_changes?since=${since}`)).body.results as { id: string }[])
        .map(({ id }) => id)
        .sort();
    const rest = await ids(half);
    const before = await contents(client, '/db');
    const jobs = await divideAll(client, '/db', { groups: 3 });
    assert.equal(jobs.length, 1);
    assert.equal(jobs[0]!.target.length, 3);
    assert.deepEqual(await contents(client, '/db'), before);
    assert.deepEqual(await ids(half), rest);
    const { body: whole } = await client.get('/db');
    assert.deepEqual(await ids(whole.update_seq as string), []);
    assert.equal((await client.put('/db/bad', { bad: true })).status, 403);
    await client.put('/db/new', { n: 77 });
    assert.deepEqual(await ids(whole.update_seq as string), ['new']);
    await splitAll(client, '/db');
    assert.equal((await client.get('/db')).body.cluster.q, 8);
    assert.deepEqual(await ids(whole.update_seq as string), ['new']);
    const again = await contents(client, '/db');
    await server.close();
    await checkClosedFolder(dataDir);
    const checked = await tuffet('check', '--data', dataDir);
    assert.equal(checked.code, 0, checked.stdout + checked.stderr);
    const second = await start(dataDir);
    assert.deepEqual(await contents(second.client, '/db'), again);
    await second.server.close();
  });

  it('what was split before, and partitions', async () => {
    const { dataDir, server, client } = await start();
    assert.equal((await client.put('/db?q=2&partitioned=true')).status, 201);
    const docs = Array.from({ length: 200 }, (_, n) => ({ _id: `p${n % 9}:${n}`, n, pad }));
    await client.post('/db/_bulk_docs', { docs: docs.slice(0, 100) });
    await splitAll(client, '/db');
    await client.post('/db/_bulk_docs', { docs: docs.slice(100) });
    await client.put('/db/_local/here', { kept: true });
    const see = async (): Promise<unknown> => ({
      all: (await client.get('/db/_all_docs?include_docs=true')).body,
      partitions: await Promise.all(
        Array.from({ length: 9 }, async (_, p) => {
          const { sizes, ...others } = (await client.get(`/db/_partition/p${p}`)).body;
          return { ...others, external: sizes.external as number };
        }),
      ),
      shards: (await client.get('/db/_shards')).body,
      local: (await client.get('/db/_local/here')).body,
    });
    const before = await see();
    await divideAll(client, '/db');
    assert.deepEqual(await see(), before);
    await splitAll(client, '/db');
    assert.equal((await client.get('/db')).body.cluster.q, 8);
    await server.close();
    const checked = await tuffet('check', '--data', dataDir);
    assert.equal(checked.code, 0, checked.stdout + checked.stderr);
  });
});

describe('a job that divides a group', () => {
  it('is shown like others, and is refused where there is nothing to divide', async () => {
    const { server, client } = await start();
    await client.put('/one?q=1');
    await client.put('/two?q=2');
    const refused = await client.post('/_reshard/jobs', { type: 'divide', db: 'one' });
    assert.equal(refused.status, 500);
    assert.equal(refused.body[0].error, 'group_cannot_be_divided');
    for (const groups of [1, 0, -1, 2.5, 257, '2', null, {}]) {
      const { status, body } = await client.post('/_reshard/jobs', { type: 'divide', db: 'two', groups });
      assert.deepEqual([status, body.reason], [400, 'Invalid `groups`'], JSON.stringify(groups));
    }
    const split = await client.post('/_reshard/jobs', { type: 'split', db: 'two', groups: 2 });
    assert.equal(split.status, 400);
    const [id] = await divide(client, '/two', { groups: 200 });
    const done = (await until(client, id!, 'completed')) as Job & { type: string };
    assert.equal(done.type, 'divide');
    assert.match(done.source, /^groups\/\d+\/two\.\d{10}$/);
    assert.equal(done.target.length, 2);
    assert.equal((await client.delete(`/_reshard/jobs/${id!}`)).status, 200);
    await server.close();
  });
});
