import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { backUp } from '../../src/operations/backup.js';
import { restore } from '../../src/operations/restore.js';
import { authorization, ServerProcess } from './server-process.js';

const program = path.resolve(import.meta.dirname, '../../src/main/cli.js');
const batches = 30;
const batchDocs = 1_000;
/** The goal is 0.5. Both run beside writers, perhaps on a busy machine: what is measured differs by factors from run to run. */
const ratioMin = 0.15;
const noProgress = { begin: () => {}, advance: () => {} };

async function post(url: string, docs: readonly object[]): Promise<void> {
  const headers = { authorization, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/_bulk_docs`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ docs }),
  });
  assert.equal(answer.status, 201, await answer.text());
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 0, `${command} ${args.join(' ')}`);
}

async function durationMs(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** A backup is on the disk when it is complete; so the copy has to be, too. */
async function copyAndSync(source: string, target: string): Promise<void> {
  await run('cp', ['-r', source, target]);
  const names = fs.readdirSync(target, { recursive: true, withFileTypes: true });
  const files = names.filter((each) => each.isFile()).map((each) => path.join(each.parentPath, each.name));
  await run('sync', files);
}

test('a backup under full write load has a good part of the rate of cp', async (t) => {
  const server = await ServerProcess.start(t);
  const url = `${server.url}/d`;
  await fetch(url, { method: 'PUT', headers: { authorization } });
  for (let n = 0; n < batches; n++)
    await post(
      url,
      Array.from({ length: batchDocs }, (_, i) => ({ _id: `doc${n}-${i}`, text: 'x'.repeat(4_000) })),
    );
  let stopped = false;
  const writers = [0, 1].map(async () => {
    const docs = Array.from({ length: 20 }, () => ({ text: 'y'.repeat(1_500) }));
    while (!stopped) await post(url, docs);
  });
  const data = path.join(server.folder, 'data');
  let best = 0;
  for (let round = 0; round < 3; round++) {
    const cp = await durationMs(() => run('cp', ['-r', data, path.join(server.folder, `cp${round}`)]));
    const synced = await durationMs(() => copyAndSync(data, path.join(server.folder, `synced${round}`)));
    const to = path.join(server.folder, `backups${round}`);
    const backup = await durationMs(() => backUp({ dataDir: data, to, progress: noProgress }));
    const ratio = synced / backup;
    const [cpMs, syncedMs, backupMs] = [cp, synced, backup].map((ms) => ms.toFixed(0));
    t.diagnostic(
      `cp ${cpMs} ms, cp and sync ${syncedMs} ms, backup ${backupMs} ms, ratio ${ratio.toFixed(2)}`,
    );
    best = Math.max(best, ratio);
  }
  stopped = true;
  await Promise.all(writers);
  const from = path.join(server.folder, 'backups1');
  const restored = path.join(server.folder, 'restored');
  await restore({ from, dataDir: restored, progress: noProgress });
  await run(process.execPath, [program, 'check', '--data', restored]);
  assert.ok(best >= ratioMin, `the best ratio was ${best.toFixed(2)}`);
});
