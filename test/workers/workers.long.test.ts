import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withoutProc } from '../long/server-process.js';
import type { HttpClient } from '../support/http-client.js';
import { isRunning, Scene, until } from './scene.js';

const options = { skip: withoutProc };

/** Writes documents of 50 KB each, and gives their revisions. */
async function fill(client: HttpClient, db: string, count: number, prefix: string): Promise<string[]> {
  const revs: string[] = [];
  for (let at = 0; at < count; at += 50) {
    const docs = Array.from({ length: Math.min(50, count - at) }, (_, i) => ({
      _id: `${prefix}${at + i}`,
      text: 'x'.repeat(50_000),
    }));
    const { status, body } = await client.post(`${db}/_bulk_docs`, { docs });
    assert.equal(status, 201);
    for (const { rev } of body as { rev: string }[]) revs.push(rev);
  }
  return revs;
}

const folders = (scene: Scene): string[] => fs.readdirSync(path.join(scene.folder, 'documents')).sort();

/** Whether a process has files of the volumes in memory that are removed. */
const mapsRemoved = (pid: number): boolean =>
  /documents\/.* \(deleted\)/.test(fs.readFileSync(`/proc/${pid}/maps`, 'utf8'));

test('a volume that grows and is replaced is read on by workers', options, async (t) => {
  const scene = await Scene.start(t);
  const [owner, worker] = await scene.pair();
  const revs = await fill(owner, '/db', 600, 'large');
  await until('the worker reads what was written beyond the size at its start', () =>
    scene.isByWorker(worker, '/db/large599'),
  );
  let isReplaced = false;
  const reading = [...Array(6).keys()].map(async (k) => {
    const client = k % 2 === 0 ? scene.client() : worker;
    for (let n = 0; !isReplaced; n++) {
      const answer = await client.get('/db/doc');
      assert.equal(answer.status, 200, answer.text);
      assert.ok(answer.body.n >= 0);
    }
  });
  const before = folders(scene);
  try {
    const docs = revs.map((_rev, i) => ({ _id: `large${i}`, _rev, _deleted: true }));
    assert.equal((await owner.post('/db/_bulk_docs', { docs })).status, 201);
    let { _rev } = (await owner.get('/db/doc')).body as { _rev: string };
    let n = 0;
    await until('another folder, alone', async () => {
      assert.equal((await owner.post('/db/_compact', {})).status, 202);
      const written = await owner.put('/db/doc', { _rev, n: ++n });
      _rev = written.body.rev as string;
      for (const client of [owner, worker]) assert.equal((await client.get('/db/doc')).body.n, n);
      const now = folders(scene);
      return now.length === before.length && now[0] !== before[0];
    });
  } finally {
    isReplaced = true;
    await Promise.all(reading);
  }
  assert.deepEqual(scene.workers.filter(mapsRemoved), []);
  await until('the worker reads the new volume', () => scene.isByWorker(worker));
});

test('a worker that is stopped is killed and replaced, and keeps no pages', options, async (t) => {
  const scene = await Scene.start(t);
  const [owner, worker] = await scene.pair();
  const [stopped] = scene.workers as [number];
  let isStopped = false;
  const reading = (async () => {
    while (!isStopped) await worker.get('/db/doc');
  })();
  await new Promise((resolve) => setTimeout(resolve, 50));
  process.kill(stopped, 'SIGSTOP');
  isStopped = true;
  void reading.catch(() => undefined);
  let { _rev } = (await owner.get('/db/doc')).body as { _rev: string };
  const text = 'x'.repeat(1_000_000);
  const update = async (): Promise<void> => {
    const written = await owner.put('/db/doc', { _rev, text });
    assert.equal(written.status, 201, written.text);
    _rev = written.body.rev as string;
  };
  await until('the stopped worker is gone', async () => {
    await update();
    return !isRunning(stopped);
  });
  const fileBytes = (): number =>
    fs.statSync(path.join(scene.folder, 'documents', folders(scene)[0]!, 'data.mdb')).size;
  for (let i = 0; i < 5; i++) await update();
  const before = fileBytes();
  for (let i = 0; i < 60; i++) await update();
  assert.ok(fileBytes() - before < 20_000_000, `grown by ${fileBytes() - before} bytes`);
  const [, next] = await scene.pair();
  assert.equal((await next.get('/db/doc')).body._rev, _rev);
});

test('64 connections that read and write through two processes see every write', options, async (t) => {
  const scene = await Scene.start(t);
  const documents = 20;
  const written = Array.from({ length: documents }, () => 0);
  const revs: (string | undefined)[] = Array.from({ length: documents });
  const writing = new Set<number>();
  const endsAt = Date.now() + 8_000;
  let [reads, writes] = [0, 0];
  const work = async (client: HttpClient, k: number): Promise<void> => {
    for (let n = k; Date.now() < endsAt; n++) {
      const d = (n * 7) % documents;
      if (n % 5 !== 0 || writing.has(d)) {
        const least = written[d]!;
        const { status, body, text } = await client.get(`/db/d${d}`);
        assert.ok(status === 200 || (status === 404 && least === 0), text);
        if (status === 200) assert.ok(body.n >= least, `${body.n} was read after ${least} was written`);
        reads++;
      } else {
        writing.add(d);
        const next = written[d]! + 1;
        const { status, body, text } = await client.put(`/db/d${d}`, {
          n: next,
          ...(revs[d] && { _rev: revs[d] }),
        });
        assert.equal(status, 201, text);
        revs[d] = body.rev as string;
        written[d] = next;
        writing.delete(d);
        writes++;
      }
    }
  };
  await Promise.all(Array.from({ length: 64 }, (_, k) => work(scene.client(), k)));
  assert.ok(reads > 100 && writes > 20, `${reads} reads, ${writes} writes`);
});
