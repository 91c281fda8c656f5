import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { createServer } from '../../src/index.js';
import { checkClosedFolder } from '../crash/closed-folder.js';
import { HttpClient } from '../support/http-client.js';
import { temporaryFolder } from '../support/server.js';
import { divide, job, until } from './reshard.js';

const count = 3_000;

async function start(dataDir: string, config = {}) {
  const server = await createServer({
    dataDir,
    admins: { admin: 'secret' },
    port: 0,
    logLevel: 'none',
    config,
  });
  return { server, client: new HttpClient(server.url) };
}

async function filled(client: HttpClient, db: string, q = 2): Promise<void> {
  assert.equal((await client.put(`${db}?q=${q}`)).status, 201);
  const pad = 'x'.repeat(200);
  const docs = Array.from({ length: count }, (_, n) => ({ _id: `doc-${n}`, n, pad }));
  await client.post(`${db}/_bulk_docs`, { docs });
}

const countOf = async (client: HttpClient, db: string): Promise<number> =>
  (await client.get(`${db}/_all_docs`)).body.rows.length as number;

it('a division is stopped, resumed and removed; what it has copied is thrown away', async () => {
  const dataDir = temporaryFolder();
  const { server, client } = await start(dataDir);
  await filled(client, '/db');
  const [id] = await divide(client, '/db');
  await client.put(`/_reshard/jobs/${id!}/state`, { state: 'stopped', reason: 'later' });
  const twice = await client.post('/_reshard/jobs', { type: 'divide', db: 'db' });
  assert.equal(twice.body[0].error, 'job_already_exists');
  const stopped = await job(client, id!);
  assert.deepEqual([stopped.job_state, stopped.split_state], ['stopped', 'new']);
  assert.equal(stopped.state_info.reason, 'later');
  assert.equal((await client.put('/db/meanwhile', {})).status, 201);
  await client.put(`/_reshard/jobs/${id!}/state`, { state: 'running' });
  const { target, history } = await until(client, id!, 'completed');
  assert.equal(target.length, 2);
  assert.ok(history.some(({ detail }) => detail === 'build_indices'));
  assert.equal(await countOf(client, '/db'), count + 1);

  await filled(client, '/other');
  const [second] = await divide(client, '/other');
  assert.equal((await client.delete(`/_reshard/jobs/${second!}`)).status, 200);
  assert.equal((await client.get(`/_reshard/jobs/${second!}`)).status, 404);
  assert.equal((await client.put('/other/after', {})).status, 201);
  assert.equal(await countOf(client, '/other'), count + 1);
  await server.close();
  await checkClosedFolder(dataDir);
});

it('a database that is deleted while it is divided leaves nothing', async () => {
  const dataDir = temporaryFolder();
  const { server, client } = await start(dataDir);
  await filled(client, '/db');
  const [id] = await divide(client, '/db');
  assert.equal((await client.delete('/db')).status, 200);
  const isOver = async (): Promise<boolean> =>
    ['failed', 'completed'].includes((await job(client, id!)).job_state);
  for (const deadline = Date.now() + 60_000; !(await isOver());)
    assert.ok(Date.now() < deadline, 'the job does not end');
  await filled(client, '/db', 3);
  assert.equal(await countOf(client, '/db'), count);
  await server.close();
  await checkClosedFolder(dataDir);
});

it('a server that is closed while it divides goes on with it after the next start', async () => {
  const dataDir = temporaryFolder();
  const first = await start(dataDir);
  await filled(first.client, '/db');
  const [id] = await divide(first.client, '/db');
  await first.server.close();
  const second = await start(dataDir);
  await until(second.client, id!, 'completed');
  assert.equal(await countOf(second.client, '/db'), count);
  await second.server.close();
  await checkClosedFolder(dataDir);
});

it('new groups go into other volumes where the newest has no room for them', async () => {
  const dataDir = temporaryFolder();
  const { server, client } = await start(dataDir, { tuffet: { volume_bytes: '1000000' } });
  await filled(client, '/db');
  const volumes = (): number => fs.readdirSync(path.join(dataDir, 'documents')).length;
  const before = volumes();
  const [id] = await divide(client, '/db');
  await until(client, id!, 'completed');
  assert.ok(volumes() > before, `${volumes()} volumes`);
  assert.equal(await countOf(client, '/db'), count);
  assert.equal((await client.put('/db/after', {})).status, 201);
  await server.close();
  await checkClosedFolder(dataDir);
});
