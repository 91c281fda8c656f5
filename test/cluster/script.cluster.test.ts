import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { HttpClient } from '../support/http-client.js';
import { skipWithoutNats } from './nats-servers.js';

const script = path.resolve(import.meta.dirname, '../../../scripts/cluster.mjs');

test(
  'npm run cluster starts three nodes to try, and ends all that it has started',
  skipWithoutNats,
  async () => {
    const child = spawn(process.execPath, [script], {
      env: { ...process.env, TUFFET_PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let ended: number | null | undefined;
    const exit = new Promise<void>((resolve) => child.once('exit', (code) => resolve(void (ended = code))));
    const started = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (data: Buffer) => {
          output += data.toString();
          if (output.includes('Admin pages')) resolve();
        });
    });
    try {
      await Promise.race([started, exit]);
      assert.equal(ended, undefined, output);
      const urls = [...output.matchAll(/(http:\/\/127\.0\.0\.1:\d+)\/_utils/g)].map(([, url]) => url!);
      assert.equal(urls.length, 3, output);
      const [one, two, three] = urls.map((url) => new HttpClient(url)) as [
        HttpClient,
        HttpClient,
        HttpClient,
      ];
      assert.equal((await one.put('/db')).status, 201);
      const fresh = { 'x-tuffet-reads': 'fresh' };
      assert.equal((await two.put('/db/doc', { hello: 'world' }, fresh)).status, 201);
      const read = await three.get('/db/doc', fresh);
      assert.equal(read.body.hello, 'world', JSON.stringify(read.body));
      const folder = /in (\S*tuffet-cluster-\S+?),/.exec(output)![1]!;
      child.kill('SIGINT');
      await exit;
      assert.equal(ended, 0, output);
      assert.equal(fs.existsSync(folder), false);
      await assert.rejects(one.get('/'));
    } finally {
      child.kill('SIGTERM');
      await exit;
    }
  },
);
