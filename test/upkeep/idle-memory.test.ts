import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { authorization, ServerProcess, withoutProc } from '../long/server-process.js';

const documents = 40_000;
const batch = 5_000;
const headers = { authorization, 'Content-Type': 'application/json' };

/** The room for new objects of the thread that fills indexes alone is larger, unless the machine is small. */
const givenBackMin_mb = 60;
const withinMs = 60_000;

async function send(server: ServerProcess, method: string, path: string, body?: object): Promise<void> {
  const request = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const answer = await fetch(`${server.url}/many${path}`, request);
  assert.ok(answer.ok, `${method} ${path} was answered ${answer.status}`);
  await answer.arrayBuffer();
}

test(
  'an idle server gives back what building an index has taken, after seconds',
  { skip: withoutProc },
  async (t) => {
    const server = await ServerProcess.start(t);
    await send(server, 'PUT', '');
    for (let from = 0; from < documents; from += batch) {
      const docs = Array.from({ length: batch }, (_, at) => ({ _id: `doc-${from + at}`, number: from + at }));
      await send(server, 'POST', '/_bulk_docs', { docs });
    }
    const views = { number: { map: 'function (doc) { emit(doc.number, [doc._id, doc.number]); }' } };
    await send(server, 'PUT', '/_design/d', { views });
    await send(server, 'GET', '/_design/d/_view/number?limit=1');
    const most = server.anonymous_mb();
    const until = performance.now() + withinMs;
    while (server.anonymous_mb() > most - givenBackMin_mb) {
      assert.ok(performance.now() < until, `RssAnon is ${server.anonymous_mb()} MB, and was ${most} MB`);
      await sleep(200);
    }
  },
);
