/** What another server says keeps nobody waiting, however long it is. */
import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

/** Takes its time when it is parsed at once. */
const longAnswer = Buffer.from(`{"db_name":[${'[],'.repeat(8_000_000)}0]}`);

const source = http.createServer((request, response) => {
  request.resume();
  response.setHeader('content-type', 'application/json');
  response.end(request.method === 'GET' ? longAnswer : '{}');
});
await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
after(() => source.close());
const sourceUrl = `http://127.0.0.1:${(source.address() as AddressInfo).port}/database`;

/** The longest time that passed between two turns of the event loop. */
async function longestWait(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let before = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - before);
    before = now;
  }, 1);
  await work();
  clearInterval(timer);
  return longest;
}

function millisecondsOfParsing(): number {
  const started = performance.now();
  JSON.parse(longAnswer.toString());
  return performance.now() - started;
}

for (const [name, targetOf] of [
  ['a database of this server', (db: string) => db.slice(1)],
  ['another server', (db: string) => client.url.replace('://', '://admin:secret@') + db],
] as const) {
  test(`a long answer of the source is read in slices or beside the requests, with ${name} as target`, async () => {
    const parsing = millisecondsOfParsing();
    const target = targetOf(await newDb(client));
    const wait = await longestWait(async () => {
      const { status, body } = await client.post('/_replicate', { source: sourceUrl, target });
      assert.equal(status, 500, JSON.stringify(body));
      assert.equal(body.error, 'replication_failed');
    });
    assert.ok(wait < Math.max(100, parsing / 3), `${wait} ms, where parsing takes ${parsing} ms`);
  });
}
