import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { createServer } from '../../src/index.js';
import { ReshardJobs } from '../../src/node/reshard-jobs.js';
import { HttpClient } from '../support/http-client.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { job, ranges, split, splitAll, until } from './reshard.js';

const client = await startServer({ dataDir: temporaryFolder() });

const docs = (count: number): { docs: object[] } => ({
  docs: Array.from({ length: count }, (_, n) => ({ _id: `doc-${n}`, n })),
});

async function filled(count = 100, query = '?q=1'): Promise<string> {
  const db = await newDb(client, query);
  assert.equal((await client.post(`${db}/_bulk_docs`, docs(count))).status, 201);
  return db;
}

const states = [
  'initial_copy',
  'topoff1',
  'build_indices',
  'topoff2',
  'copy_local_docs',
  'update_shardmap',
  'wait_source_close',
  'topoff3',
  'source_delete',
];

describe('a resharding job', () => {
  it('is forgotten with its database, also by a server that stopped between the two', async () => {
    const dataDir = temporaryFolder();
    const options = { dataDir, port: 0, logLevel: 'none', admins: { admin: 'secret' } } as const;
    const first = await createServer(options);
    const before = new HttpClient(first.url);
    await before.put('/kept?q=1');
    await before.put('/gone?q=1');
    for (const db of ['/kept', '/gone']) {
      for (const id of await split(before, db)) await until(before, id, 'completed');
    }
    const forgetting = mock.method(ReshardJobs.prototype, 'forget', () => Promise.resolve());
    assert.equal((await before.delete('/gone')).status, 200);
    assert.equal((await before.get('/_reshard/jobs')).body.jobs.length, 2);
    forgetting.mock.restore();
    await first.close();
    const second = await createServer(options);
    const after = new HttpClient(second.url);
    const left = async (): Promise<number> => (await after.get('/_reshard/jobs')).body.jobs.length;
    for (let tries = 0; tries < 100 && (await left()) > 1; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { jobs } = (await after.get('/_reshard/jobs')).body;
    await second.close();
    assert.equal(jobs.length, 1);
    assert.match(jobs[0].source, /\/kept\./);
  });

  it('goes through all states of a split, and says so', async () => {
    const db = await filled();
    const [id] = await split(client, db);
    const done = await until(client, id!, 'completed');
    assert.equal(done.split_state, 'completed');
    assert.deepEqual(
      done.history.map(({ type, detail }) => [type, detail]),
      [['new', null], ...states.map((state) => ['running', state]), ['completed', null]],
    );
    assert.match(done.source, new RegExp(`^shards/00000000-ffffffff${db}\\.\\d{10}$`));
    assert.equal(done.target.length, 2);
    assert.deepEqual(await ranges(client, db), ['00000000-7fffffff', '80000000-ffffffff']);
    for (const n of [0, 1, 2, 3]) {
      const { body } = await client.get(`${db}/_shards/doc-${n}`);
      assert.ok((await ranges(client, db)).includes(body.range as string));
    }
    assert.equal((await client.put(`/_reshard/jobs/${id}/state`, { state: 'stopped' })).status, 200);
    assert.equal((await job(client, id!)).job_state, 'completed');
  });

  it('is refused where there is one for the shard, and where there are too many', async () => {
    assert.equal((await client.put('/_reshard/state', { state: 'stopped' })).status, 200);
    const db = await filled();
    const [id] = await split(client, db);
    const again = await client.post('/_reshard/jobs', { type: 'split', db: db.slice(1) });
    assert.equal(again.status, 500);
    assert.equal(again.body[0].error, 'job_already_exists');
    await client.put('/_node/_local/_config/reshard/max_jobs', '0');
    const tooMany = await client.post('/_reshard/jobs', { type: 'split', db: (await filled()).slice(1) });
    assert.equal(tooMany.body[0].error, 'max_jobs_exceeded');
    await client.delete('/_node/_local/_config/reshard/max_jobs');
    assert.equal((await client.delete(`/_reshard/jobs/${id}`)).status, 200);
    assert.equal((await client.put('/_reshard/state', { state: 'running' })).status, 200);
    assert.deepEqual(await ranges(client, db), ['00000000-ffffffff']);
  });

  it('that is stopped for itself stays so; one that is stopped with all goes on with all', async () => {
    const [one, other] = [await filled(), await filled()];
    await client.put('/_reshard/state', { state: 'stopped', reason: 'a while' });
    assert.equal((await client.get('/_reshard')).body.state_reason, 'a while');
    const [held] = await split(client, one);
    const [stopped] = await split(client, other);
    assert.equal((await job(client, held!)).state_info.reason, 'Shard splitting disabled');
    await client.put(`/_reshard/jobs/${stopped}/state`, { state: 'stopped', reason: 'mine' });
    const early = await client.put(`/_reshard/jobs/${stopped}/state`, { state: 'running' });
    assert.equal(early.status, 400);
    await client.put('/_reshard/state', { state: 'running' });
    await until(client, held!, 'completed');
    const { body } = await client.get(`/_reshard/jobs/${stopped}/state`);
    assert.deepEqual(body, { state: 'stopped', reason: 'mine' });
    assert.deepEqual(await ranges(client, other), ['00000000-ffffffff']);
    await client.put(`/_reshard/jobs/${stopped}/state`, { state: 'running' });
    await until(client, stopped!, 'completed');
    assert.equal((await ranges(client, other)).length, 2);
  });

  it('that is stopped or removed half way leaves nothing behind, and can be begun again', async () => {
    const db = await filled(20_000);
    const [id] = await split(client, db);
    await until(client, id!, 'running');
    await client.put(`/_reshard/jobs/${id}/state`, { state: 'stopped' });
    const found = await job(client, id!);
    if (found.job_state === 'stopped') {
      assert.equal((await client.put(`${db}/while-stopped`, {})).status, 201);
      await client.put(`/_reshard/jobs/${id}/state`, { state: 'running' });
      await until(client, id!, 'running');
      assert.equal((await client.delete(`/_reshard/jobs/${id}`)).status, 200);
      assert.equal((await client.delete(`/_reshard/jobs/${id}`)).status, 404);
    }
    if ((await ranges(client, db)).length === 1) await splitAll(client, db);
    assert.equal((await ranges(client, db)).length, 2);
    const { body } = await client.get(`${db}/_changes`);
    assert.equal(body.pending, 0);
    assert.equal(new Set(body.results.map(({ id }: { id: string }) => id)).size, body.results.length);
    assert.equal(body.results.length, (await client.get(db)).body.doc_count);
  });

  it('of a database that is deleted fails; completed ones are removed', async () => {
    const db = await filled(20_000);
    const [id] = await split(client, db);
    await until(client, id!, 'running');
    assert.equal((await client.delete(db)).status, 200);
    const deadline = Date.now() + 20_000;
    const look = () => client.get(`/_reshard/jobs/${id}`);
    const isOver = ({ status, body }: Awaited<ReturnType<typeof look>>) =>
      status === 404 || ['failed', 'completed'].includes(body.job_state);
    while (!isOver(await look()) && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const { status, body } = await look();
    if (status !== 404 && body.job_state !== 'completed')
      assert.deepEqual([body.job_state, body.state_info], ['failed', { reason: 'Database does not exist.' }]);

    const other = await filled(10);
    const ids = await split(client, other);
    for (const each of ids) await until(client, each, 'completed');
    assert.equal((await client.delete(other)).status, 200);
    for (const each of ids) assert.equal((await client.get(`/_reshard/jobs/${each}`)).status, 404);
  });

  it('goes on after a restart', async () => {
    const dataDir = temporaryFolder();
    const options = { dataDir, admins: { admin: 'secret' }, port: 0, logLevel: 'none' } as const;
    const first = await createServer(options);
    const before = new HttpClient(first.url);
    await before.put('/kept?q=2');
    await before.post('/kept/_bulk_docs', docs(10_000));
    const ids = await split(before, '/kept');
    const since = (await before.get('/kept/_changes?limit=0&since=now')).body.last_seq as string;
    await first.close();
    const second = await createServer(options);
    try {
      const after = new HttpClient(second.url);
      for (const id of ids) await until(after, id, 'completed');
      assert.equal((await ranges(after, '/kept')).length, 4);
      assert.equal((await after.get('/kept')).body.cluster.q, 4);
      assert.deepEqual((await after.get(`/kept/_changes?since=${since}`)).body.results, []);
    } finally {
      await second.close();
    }
  });
});

describe('a request for resharding jobs', () => {
  const refused: Record<string, [object, string]> = {
    'that names nothing': [{ type: 'split' }, 'Must specify at least `db` or `shard`'],
    'that names both': [
      { type: 'split', db: 'x', shard: 'shards/00000000-ffffffff/x.1' },
      '`db` and `shard` are mutually exclusive',
    ],
    'with a range of a shard': [
      { type: 'split', range: '00000000-ffffffff', shard: 'shards/00000000-ffffffff/x.1' },
      '`range` and `shard` are mutually exclusive',
    ],
    'of a database that is no text': [{ type: 'split', db: { a: 1 } }, 'Invalid `db`'],
  };
  for (const [name, [body, reason]] of Object.entries(refused)) {
    it(`${name} is refused`, async () => {
      await client.put('/x');
      const answer = await client.post('/_reshard/jobs', body);
      assert.deepEqual([answer.status, answer.body.reason], [400, reason]);
    });
  }

  it('is not found where it names a database or a node that there is not', async () => {
    await client.put('/x');
    for (const body of [{ db: 'nosuch' }, { db: 'x', node: 'nosuch@nohost' }]) {
      const answer = await client.post('/_reshard/jobs', { type: 'split', ...body });
      assert.deepEqual([answer.status, answer.body.error], [404, 'bad_request']);
    }
  });

  it('must name what the configuration wants named', async () => {
    const db = await filled(1);
    for (const name of ['node', 'range']) {
      await client.put(`/_node/_local/_config/reshard/require_${name}_param`, 'true');
      const { status, body } = await client.post('/_reshard/jobs', { type: 'split', db: db.slice(1) });
      assert.deepEqual([status, body.reason], [400, `\`${name}\` parameter is required`]);
      await client.delete(`/_node/_local/_config/reshard/require_${name}_param`);
    }
  });

  it('cannot make more shards than a database may have', async () => {
    const db = await filled(1, '?q=256');
    const { status, body } = await client.post('/_reshard/jobs', {
      type: 'split',
      db: db.slice(1),
      range: '00000000-00ffffff',
    });
    assert.deepEqual([status, body[0].error], [500, 'max_shards_exceeded']);
  });

  it('is for server admins', async () => {
    const anybody = new HttpClient(client.url, null);
    for (const path of ['/_reshard', '/_reshard/jobs', '/_reshard/state', '/_reshard/jobs/x/state'])
      assert.equal((await anybody.get(path)).status, 401, path);
    assert.equal((await anybody.post('/_reshard/jobs', { type: 'split', db: 'x' })).status, 401);
  });
});
