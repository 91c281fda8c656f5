/** Clients that send and read nothing more, together with large and packed bodies, in every mix. */
import assert from 'node:assert/strict';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { test } from 'node:test';
import { authorization, ServerProcess, withoutProc } from './server-process.js';

const memoryMax_mb = 1_000;
const headers = { authorization, 'content-type': 'application/json' };

test('the memory stays below 1 GB whatever is held', { skip: withoutProc }, async (t) => {
  const server = await ServerProcess.start(t);
  await server.createDatabase('db');
  const sockets: net.Socket[] = [];
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  const hold = (count: number, text: (n: number) => string): void => {
    for (let n = 0; n < count; n++) {
      const socket = net.connect(Number(new URL(server.url).port), '127.0.0.1').pause();
      socket.on('error', () => undefined);
      socket.write(text(n));
      sockets.push(socket);
    }
  };
  const head = (method: string, path: string, ...lines: string[]): string =>
    [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: ${authorization}`, ...lines, '\r\n'].join(
      '\r\n',
    );
  const put = async (path: string, body: string | Buffer, more = {}): Promise<number> => {
    const answer = await fetch(`${server.url}${path}`, {
      method: 'PUT',
      headers: { ...headers, ...more },
      body,
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, server.anonymous_mb())), 20);
  const step = async (what: string, work: () => Promise<unknown> | void): Promise<void> => {
    most = 0;
    await work();
    await sleep(3_000);
    const started = performance.now();
    assert.equal((await fetch(`${server.url}/db`)).status, 200);
    const ms = Math.round(performance.now() - started);
    console.log(`${what}: at most ${Math.round(most)} MB, a small request took ${ms} ms`);
    if (most >= memoryMax_mb) clearInterval(watch);
    assert.ok(most < memoryMax_mb, `${what}: ${most} MB`);
    for (const socket of sockets.splice(0)) socket.destroy();
  };
  const large = JSON.stringify({ text: 'x'.repeat(7_900_000) });
  await step('50 documents of 8 MB at once', async () => {
    const statuses = await Promise.all(Array.from({ length: 50 }, (_, n) => put(`/db/large${n}`, large)));
    assert.deepEqual(new Set(statuses), new Set([201]));
  });
  await step('50 unread documents', () => hold(50, (n) => head('GET', `/db/large${n}`)));
  await step('300 unread documents, pipelined', () =>
    hold(100, (n) => head('GET', `/db/large${n % 50}`).repeat(3)),
  );
  await step('50 unread listings', () => hold(50, () => head('GET', '/db/_all_docs?include_docs=true')));
  const bulkGet = (accept: string): string => {
    const body = JSON.stringify({ docs: Array.from({ length: 50 }, (_, n) => ({ id: `large${n}` })) });
    const lines = ['Content-Type: application/json', `Content-Length: ${body.length}`, `Accept: ${accept}`];
    return head('POST', '/db/_bulk_get', ...lines) + body;
  };
  for (const accept of ['application/json', 'multipart/mixed'])
    await step(`30 unread answers with 50 documents each, as ${accept}`, () =>
      hold(30, () => bulkGet(accept)),
    );
  await step('200 conflicts of 2 MB', async () => {
    for (let n = 0; n < 200; n++) {
      const rev = `1-${n.toString(16).padStart(32, '0')}`;
      const body = JSON.stringify({ _rev: rev, text: 'x'.repeat(2_000_000) });
      assert.equal(await put('/db/conflicts?new_edits=false', body), 201);
    }
  });
  for (const accept of ['application/json', 'multipart/mixed'])
    await step(`30 unread answers with all conflicts, as ${accept}`, () =>
      hold(30, () => head('GET', '/db/conflicts?open_revs=all', `Accept: ${accept}`)),
    );
  const begun = `{"text":"${'x'.repeat(61_000_000)}`;
  await step('30 bodies that stop before their end', () =>
    hold(30, (n) => head('PUT', `/db/held${n}`, 'Content-Length: 64000000') + begun),
  );
  await step('30 bulk requests that stop within a document', () =>
    hold(30, () => {
      const json = 'Content-Type: application/json';
      return `${head('POST', '/db/_bulk_docs', json, 'Content-Length: 99000000')}{"docs":[${begun}`;
    }),
  );
  const packed = gzipSync(`${begun}"}`);
  await step('20 packed bodies', () =>
    Promise.all(
      Array.from({ length: 20 }, (_, n) => put(`/db/p${n}`, packed, { 'content-encoding': 'gzip' })),
    ),
  );
  const middle = JSON.stringify({ text: 'x'.repeat(2_000_000) });
  await step('300 documents of batch=ok', () =>
    Promise.all(Array.from({ length: 300 }, (_, n) => put(`/db/b${n}?batch=ok`, middle))),
  );
  clearInterval(watch);
});
