/** The threads that fill indexes are there before the first request that needs them. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { asBytes } from '../../src/base/bytes.js';
import { SystemRuntime, type Timer } from '../../src/base/runtime.js';
import { ThreadBackend } from '../../src/indexes/thread-backend.js';
import { ScriptHost } from '../../src/script/script-host.js';
import { createServer } from '../../src/server/create-server.js';
import { HttpClient } from '../support/http-client.js';
import { newDb, temporaryFolder } from '../support/server.js';

let started = 0;
const count = (): void => void started++;
process.on('worker', count);
after(() => void process.off('worker', count));

const serverOf = (dataDir: string): ReturnType<typeof createServer> =>
  createServer({ dataDir, port: 0, logLevel: 'none', admins: { admin: 'secret' } });

test('a server that has indexes starts their thread without being asked', async () => {
  const folder = temporaryFolder();
  const first = await serverOf(folder);
  const client = new HttpClient(first.url);
  const db = await newDb(client);
  await client.put(`${db}/_design/d`, { views: { v: { map: 'function (doc) { emit(1) }' } } });
  await client.get(`${db}/_design/d/_view/v`);
  await first.close();
  const without = await serverOf(temporaryFolder());
  started = 0;
  const second = await serverOf(folder);
  for (const end = Date.now() + 60_000; started === 0 && Date.now() < end;) await sleep(20);
  assert.equal(started, 1, 'only the server with indexes has begun a thread');
  await Promise.all([second.close(), without.close()]);
});

/** Its timers ring when they are told to. */
class RungTimers extends SystemRuntime {
  readonly #timers = new Set<() => void>();

  override setIdleTimer(work: () => void): Timer {
    this.#timers.add(work);
    return { cancel: () => void this.#timers.delete(work) };
  }

  ring(): void {
    for (const work of [...this.#timers]) work();
  }
}

for (const keepsThread of [true, false])
  test(`a thread for functions ${keepsThread ? 'stays' : 'ends'} when it is idle`, async (t) => {
    const runtime = new RungTimers();
    const options = { runtime, threads: 2, memory_bytes: 2 ** 26, timeoutMs: () => 60_000, log: () => {} };
    const host = new ScriptHost({ ...options, keepsThread });
    t.after(() => host.close());
    started = 0;
    await host.warm();
    await host.warm();
    await nextTurn();
    assert.equal(started, 1);
    await host.check('space', ['function () {}']);
    assert.equal(started, 1, 'the thread that was started before is used');
    runtime.ring();
    await host.check('space', ['function () {}']);
    assert.equal(started, keepsThread ? 1 : 2);
  });

test('the last thread gives way to a new one when it has carried much', async (t) => {
  const runtime = new RungTimers();
  const options = { runtime, threads: 2, memory_bytes: 2 ** 26, timeoutMs: () => 60_000, log: () => {} };
  const host = new ScriptHost({ ...options, keepsThread: true });
  t.after(() => host.close());
  started = 0;
  const program = { id: 'program', lib: undefined, maps: ['function (doc) { emit(1) }'] };
  const doc = asBytes(`{"_id":"a","text":"${'a'.repeat(1_000_000)}"}`);
  for (let i = 0; i < 20; i++) await host.map('space', program, [doc]);
  await nextTurn();
  assert.equal(started, 1);
  runtime.ring();
  await nextTurn();
  assert.equal(started, 2, 'a new thread is there');
  runtime.ring();
  await host.map('space', program, [doc]);
  assert.equal(started, 2, 'and stays');
});

test('threads that cannot be started before they are needed are left to the first who needs them', async (t) => {
  const folder = temporaryFolder();
  // As a full disk does, this lets the store of the indexes fail to open.
  fs.writeFileSync(path.join(folder, '1'), '');
  const runtime = new RungTimers();
  const options = {
    threads: 1,
    memory_bytes: 2 ** 26,
    timeout_ms: 60_000,
    reduce_limit: 'true' as const,
    log: () => {},
  };
  const backend = new ThreadBackend(folder, options, runtime);
  t.after(() => backend.close());
  runtime.ring();
  await nextTurn();
  // Which of the two it is depends on the version of Node.
  await assert.rejects(backend.discard(1, 1), { code: /^(ENOTDIR|EEXIST)$/ });
});

test('a folder for indexes without an index needs no thread', async (t) => {
  const folder = temporaryFolder();
  const first = await serverOf(folder);
  const client = new HttpClient(first.url);
  const [db, other] = [await newDb(client), await newDb(client)];
  await client.put(`${db}/_design/d`, { views: { v: { map: 'function (doc) { emit(1) }' } } });
  await client.get(`${db}/_design/d/_view/v`);
  await client.send('DELETE', db);
  // What was removed is erased in the background.
  await sleep(500);
  await first.close();
  started = 0;
  const second = await serverOf(folder);
  t.after(() => second.close());
  const again = new HttpClient(second.url);
  await again.post(`${other}/_view_cleanup`, {});
  await again.send('DELETE', other);
  await sleep(1_500);
  assert.equal(started, 0);
});
