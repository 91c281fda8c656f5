/** Work that takes long ends with the client that asked for it. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';
import { assertOk } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
const docs = Array.from({ length: 20_000 }, (_, n) => ({ _id: `doc${n}`, text: 'a'.repeat(300) }));
assertOk(await client.post(`${db}/_bulk_docs`, { docs }), 201);
const busy = 'for (var i = 0; i < 1000; i++) Math.sin(i);';
const design = {
  filters: { none: `function (doc) { ${busy} return false; }` },
  views: { all: { map: 'function (doc) { emit(doc._id, null); }' } },
  lists: { silent: `function () { while (getRow()) { ${busy} } return 'done'; }` },
};
assertOk(await client.put(`${db}/_design/d`, design), 201);
assertOk(await client.get(`${db}/_design/d/_view/all?limit=1`), 200);

/** Begins a request, leaves, and gives the milliseconds of work that the process still does before it is idle. */
async function workAfterLeaving(method: string, path: string, body?: unknown): Promise<number> {
  const request = http.request(`${client.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    auth: client.credentials!,
  });
  request.on('error', () => undefined);
  let isAnswered = false;
  request.on('response', (response) => response.resume().on('end', () => (isAnswered = true)));
  request.end(body === undefined ? undefined : JSON.stringify(body));
  await sleep(150);
  assert.ok(!isAnswered, 'The request must be one that takes long.');
  request.destroy();
  const left = process.cpuUsage();
  for (let work = workSince(left); ;) {
    await sleep(300);
    const now = workSince(left);
    if (now - work < idleMs || now > workMsMax) return now;
    work = now;
  }
}

function workSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

const idleMs = 10;
/** What may be under way in a thread at that moment; each of the requests takes several seconds as a whole. */
const workMsMax = 1_500;

describe('When its client is gone, the server gives up', () => {
  const patterns = Array.from({ length: 150 }, (_, n) => ({ text: { $regex: `a+b${n}` } }));
  const requests: [what: string, method: string, path: string, body?: unknown][] = [
    ['a search', 'POST', '/_find', { selector: { $or: patterns }, limit: 1 }],
    ['changes whose filter lets nothing through', 'GET', '/_changes?filter=d/none'],
    ['the same from the newest on', 'GET', '/_changes?filter=d/none&descending=true'],
    ['the same as a feed', 'GET', '/_changes?filter=d/none&feed=longpoll'],
    ['a list function that sends nothing', 'GET', '/_design/d/_list/silent/all'],
  ];
  for (const [what, method, path, body] of requests) {
    test(what, async () => {
      const ms = await workAfterLeaving(method, db + path, body);
      assert.ok(ms < workMsMax, `${ms} ms of work`);
    });
  }
});
