import assert from 'node:assert/strict';
import http from 'node:http';
import { performance } from 'node:perf_hooks';
import test from 'node:test';
import { newDb, startServer } from '../support/server.js';
import { cpuOfTurns } from '../support/turns.js';

const client = await startServer();
const db = await newDb(client);
for (let from = 0; from < 40_000; from += 10_000) {
  const docs = Array.from({ length: 10_000 }, (_, n) => ({ _id: `d${from + n}`, n, text: 'x'.repeat(150) }));
  await client.post(`${db}/_bulk_docs`, { docs });
}

test('a long scan lets others on', async () => {
  const turns = cpuOfTurns();
  const answer = await client.post(`${db}/_find`, { selector: { n: -1 }, execution_stats: true });
  const times = turns.stop().sort((a, b) => b - a);
  assert.equal(answer.body.execution_stats.total_docs_examined, 40_000);
  // A turn of the scan is six milliseconds, all of it some hundred. Collections of garbage make a few turns longer.
  assert.ok(
    times[0]! < 80 && times[3]! < 30,
    `turns of ${times.slice(0, 6).map(Math.round).join(', ')} ms of processor time`,
  );
});

test('nothing is looked for when the client has hung up', async () => {
  const body = JSON.stringify({ selector: { $or: Array.from({ length: 300 }, (_, n) => ({ n: -n - 1 })) } });
  const request = http.request(`${client.url}${db}/_find`, {
    method: 'POST',
    auth: 'admin:secret',
    headers: { 'content-type': 'application/json', 'content-length': body.length },
  });
  request.on('error', () => {});
  request.end(body);
  await new Promise((resolve) => setTimeout(resolve, 60));
  request.destroy();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const before = performance.eventLoopUtilization();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { utilization } = performance.eventLoopUtilization(before);
  assert.ok(utilization < 0.5, `still ${Math.round(utilization * 100)} % busy`);
});

test('a long answer comes piece by piece and whole', async () => {
  const answer = await client.post(`${db}/_find`, { selector: {}, limit: 40_000, fields: ['_id', 'text'] });
  assert.equal(answer.headers['transfer-encoding'], 'chunked');
  assert.equal(answer.body.docs.length, 40_000);
  assert.equal(typeof answer.body.bookmark, 'string');
});

test('fields of large documents are found in one pass', async () => {
  const large = await newDb(client);
  const members = Array.from({ length: 200_000 }, (_, n) => `"k${n}":${n}`).join(',');
  await client.send('PUT', `${large}/members`, { raw: `{${members}}` });
  await client.put(`${large}/text`, { a: 'x'.repeat(6_000_000) });
  const fields = Array.from({ length: 1_000 }, (_, n) => `z${n}`);
  const turns = cpuOfTurns();
  const answer = await client.post(`${large}/_find`, {
    selector: { $or: [{ k7: 7 }, { a: { $exists: true } }] },
    fields: ['k199999', ...fields],
  });
  const [longest] = turns.stop().sort((a, b) => b - a);
  assert.deepEqual(answer.body.docs, [{ k199999: 199_999 }, {}]);
  // A pass over one of them takes tens of milliseconds; a pass for each field, or for each member, took many seconds.
  assert.ok(longest! < 1_000, `${longest} ms of processor time`);
});
