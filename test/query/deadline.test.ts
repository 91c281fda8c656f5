import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

/** A database in which this selector has to look at many documents, each for long, and finds nothing. */
async function slowScene(): Promise<{ db: string; query: unknown }> {
  const db = await newDb(client);
  const docs = Array.from({ length: 3_000 }, (_, n) => ({ _id: `doc${n}`, text: 'a'.repeat(500) }));
  assertOk(await client.post(`${db}/_bulk_docs`, { docs }), 201);
  const patterns = Array.from({ length: 150 }, (_, n) => ({ text: { $regex: `a+b${n}` } }));
  return { db, query: { selector: { $or: patterns }, limit: 1 } };
}

const setTimeoutMs = (value: string): Promise<unknown> =>
  client.put('/_node/_local/_config/tuffet/query_timeout_ms', value);

describe('A search that takes long', () => {
  test('ends at its deadline with an error, and a quick one does not', async () => {
    const { db, query } = await slowScene();
    await setTimeoutMs('20');
    const answer = await client.post(`${db}/_find`, query);
    assertRefused(answer, 500);
    assert.equal(answer.body.error, 'timeout');
    assertOk(await client.post(`${db}/_find`, { selector: { _id: 'doc7' } }), 200);
    await setTimeoutMs('infinity');
  });

  test('does not count the time for which its client takes nothing', async () => {
    const db = await newDb(client);
    const docs = Array.from({ length: 200 }, (_, n) => ({ _id: `doc${n}`, text: 'a'.repeat(100_000) }));
    for (let at = 0; at < docs.length; at += 50)
      assertOk(await client.post(`${db}/_bulk_docs`, { docs: docs.slice(at, at + 50) }), 201);
    await setTimeoutMs('2000');
    const bytes = await readSlowly(`${db}/_find`, { selector: {}, limit: 1000 }, 2_500);
    await setTimeoutMs('infinity');
    assert.ok(bytes > 200 * 100_000);
  });
});

/** Reads a little of the answer, nothing for a while, and then the rest. Gives how many bytes came. */
function readSlowly(path: string, body: unknown, pauseMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${client.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      auth: client.credentials!,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let bytes = 0;
      response.once('data', () => {
        response.pause();
        setTimeout(() => response.resume(), pauseMs);
      });
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('error', reject);
      response.on('end', () => resolve(bytes));
    });
    request.end(JSON.stringify(body));
  });
}
