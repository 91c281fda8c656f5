import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createServer } from '../../src/index.js';
import { tuffet } from '../operations/cli.js';
import { HttpClient } from '../support/http-client.js';
import { temporaryFolder } from '../support/server.js';
import { divide, job } from './reshard.js';

const count = 5_000;

async function filled(config = {}) {
  const dataDir = path.join(temporaryFolder(), 'data');
  const server = await createServer({
    dataDir,
    admins: { admin: 'secret' },
    port: 0,
    logLevel: 'none',
    config,
  });
  const client = new HttpClient(server.url);
  assert.equal((await client.put('/db?q=4')).status, 201);
  const docs = Array.from({ length: count }, (_, n) => ({ _id: `doc-${n}`, n, pad: 'x'.repeat(500) }));
  await client.post('/db/_bulk_docs', { docs });
  return { dataDir, server, client };
}

test('a group that outgrows a bound is divided by itself', async () => {
  const { server, client } = await filled({ reshard: { group_size_max: '1000000' } });
  const ended = async (): Promise<boolean> => {
    const { jobs } = (await client.get('/_reshard/jobs')).body as { jobs: { job_state: string }[] };
    return jobs.length > 0 && jobs.every(({ job_state }) => job_state === 'completed');
  };
  for (const deadline = Date.now() + 50_000; !(await ended());) {
    assert.ok(Date.now() < deadline, 'no division was begun');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal((await client.get('/db/_all_docs')).body.rows.length, count);
  await server.close();
});

test('a backup that is made while a group is divided is complete', async () => {
  const { dataDir, server, client } = await filled({ tuffet: { volume_bytes: '1000000' } });
  const backups = path.join(temporaryFolder(), 'backups');
  const [id] = await divide(client, '/db');
  for (let state = ''; state !== 'completed'; state = (await job(client, id!)).job_state) {
    const made = await tuffet('backup', '--data', dataDir, '--to', backups);
    assert.equal(made.code, 0, made.stdout + made.stderr);
  }
  await server.close();
  for (const name of fs.readdirSync(backups)) {
    const restored = path.join(temporaryFolder(), 'restored');
    const { code, stdout, stderr } = await tuffet(
      'restore',
      '--from',
      path.join(backups, name),
      '--data',
      restored,
    );
    assert.equal(code, 0, stdout + stderr);
    const again = await createServer({
      dataDir: restored,
      admins: { admin: 'secret' },
      port: 0,
      logLevel: 'none',
    });
    const reader = new HttpClient(again.url);
    assert.equal((await reader.get('/db/_all_docs')).body.rows.length, count, name);
    assert.equal((await reader.put('/db/after', {})).status, 201);
    await again.close();
  }
});
