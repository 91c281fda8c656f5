import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { shardOf } from '../../src/shard/shard-ranges.js';
import type { FeedLine } from '../support/feed-client.js';
import { authorization, ServerProcess } from './server-process.js';

const listeners = 200;
const writes = 10_000;
const writesPerSecond = 1_000;
const shards = 8;

interface Report {
  ready?: true;
  heard?: number;
  faults?: string[];
  listeners?: number;
  failed?: string;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });

function put(url: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'PUT', agent, headers: { authorization } }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode!));
    });
    request.on('error', reject);
    request.end(body);
  });
}

test(`${writesPerSecond} writes a second reach ${listeners} listeners, each once and in the order of its shard`, async (t) => {
  const server = await ServerProcess.start(t);
  await server.createDatabase('busy');
  const { hostname, port } = new URL(server.url);
  const script = path.join(import.meta.dirname, 'feed-listeners.js');
  const clients = fork(script, [
    hostname,
    port,
    '/busy/_changes?feed=continuous&heartbeat=10000',
    String(listeners),
  ]);
  t.after(() => {
    clients.kill();
    agent.destroy();
  });
  const ask = async (question: object): Promise<Report> => {
    clients.send(question);
    return await hear();
  };
  const hear = async (): Promise<Report> => {
    const [report] = (await once(clients, 'message')) as [Report];
    assert.equal(report.failed, undefined);
    return report;
  };
  assert.equal((await hear()).ready, true);

  const started = performance.now();
  const answers: Promise<number>[] = [];
  for (let n = 0; n < writes; n++) {
    const due = started + (n * 1_000) / writesPerSecond;
    if (performance.now() < due) await new Promise((resolve) => setTimeout(resolve, due - performance.now()));
    answers.push(put(`${server.url}/busy/d${n}`, `{"n":${n}}`));
    // More than this at a time would only wait here.
    if (answers.length % 200 === 0) await answers.at(-200);
  }
  assert.ok((await Promise.all(answers)).every((status) => status === 201));
  const rate = writes / ((performance.now() - started) / 1_000);
  const deadline = Date.now() + 60_000;
  for (;;) {
    const { heard } = await ask({});
    if (heard === writes) break;
    assert.ok(Date.now() < deadline, `only ${heard} of ${writes} were heard`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const ms = performance.now() - started;
  const { results } = (await (await fetch(`${server.url}/busy/_changes`)).json()) as { results: FeedLine[] };
  const expected = Array.from({ length: shards }, (): number[] => []);
  for (const { id } of results) expected[shardOf(asBytes(id!), shards)]!.push(Number(id!.slice(1)));
  const report = await ask({ shards: expected });
  assert.deepEqual(report.faults, []);
  assert.equal(report.listeners, listeners);
  console.log(
    `${Math.round(rate)} writes a second, ${Math.round((writes * listeners) / (ms / 1_000))} events a second to ${listeners} listeners`,
  );
});
