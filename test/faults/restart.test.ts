import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { createLogger } from '../../src/base/logger.js';
import { requestHead, sendRaw } from '../support/raw-socket.js';
import { startServer, temporaryFolder } from '../support/server.js';

const lines: string[] = [];
const logger = createLogger({
  level: 'warning',
  format: 'json',
  destination: { write: (line: string) => void lines.push(line) },
});
const client = await startServer({ dataDir: temporaryFolder(), logger });
await client.put('/db');
const docs = Array.from({ length: 500 }, (_, n) => ({ _id: `doc${n}`, text: 'x'.repeat(300) }));
await client.post('/db/_bulk_docs', { docs });
const views = { all: { map: 'function (doc) { emit(doc._id, 1); }', reduce: '_count' } };
await client.put('/db/_design/d', { views });

test('requests that meet a restart wait for it or get 503, and nothing is lost', async () => {
  const answers = new Map<number, number>();
  const saved: string[] = [];
  let isOver = false;
  const load = Array.from({ length: 16 }, async (_, k) => {
    const path = ['/db/_all_docs?include_docs=true', '/db/_design/d/_view/all', '/db/_changes'][k % 4];
    for (let n = 0; !isOver; n++) {
      const id = `saved-${k}-${n}`;
      const { status, headers } =
        path === undefined ? await client.put(`/db/${id}`, {}) : await client.get(path);
      answers.set(status, (answers.get(status) ?? 0) + 1);
      if (status === 201) saved.push(id);
      if (status === 503) assert.equal(headers['retry-after'], '1');
    }
  });
  for (let n = 0; n < 2; n++) {
    await sleep(100);
    const both = [1, 2].map(() => client.post('/_node/_local/_restart'));
    for (const { status, text } of await Promise.all(both)) assert.equal(status, 202, text);
  }
  isOver = true;
  await Promise.all(load);
  answers.delete(200);
  answers.delete(201);
  answers.delete(503);
  assert.deepEqual([...answers], []);
  assert.ok(saved.length > 0);
  const { rows } = (await client.post('/db/_all_docs', { keys: saved })).body;
  assert.deepEqual(
    rows.filter((row: { value?: unknown }) => row.value === undefined),
    [],
  );
  assert.deepEqual(lines, []);
});

test('a request that outlasts the patience of a restart gets 503', async () => {
  const head = requestHead('PUT', '/db/late', 'Content-Length: 13');
  const upload = sendRaw(client.port, [head + '{"late"', ':true}'], {
    pauseMs: 3_000,
    until: (text) => text.includes('}'),
  });
  await sleep(50);
  assert.equal((await client.post('/_node/_local/_restart')).status, 202);
  assert.match(await upload, /^HTTP\/1\.1 503 [^]*\r\nRetry-After: 1\r\n[^]*"service_unavailable"/);
  assert.equal((await client.get('/db/late')).status, 404);
  assert.deepEqual(lines, []);
});
