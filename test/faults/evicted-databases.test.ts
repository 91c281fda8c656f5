import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { assertOk, assertRefused } from '../support/expect.js';
import type { Answer } from '../support/http-client.js';
import { startServer } from '../support/server.js';

/** More databases than a server keeps open. */
const crowd = Array.from({ length: 1_010 }, (_, n) => `crowd${n}`);

const client = await startServer();
const { port, credentials } = client;

/** A request whose body is held back in its middle. */
class HeldRequest {
  readonly #request: http.ClientRequest;
  readonly answer: Promise<Pick<Answer, 'status' | 'text'>>;

  constructor(
    path: string,
    private readonly body: string,
    type = 'application/json',
    method = 'PUT',
  ) {
    this.#request = http.request({
      ...{ port, path, method, auth: credentials! },
      headers: { 'content-type': type, 'content-length': body.length },
    });
    this.answer = new Promise((resolve, reject) => {
      this.#request.on('error', reject);
      this.#request.on('response', (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode!, text }));
      });
    });
    this.#request.write(body.slice(0, 5));
  }

  finish(): typeof this.answer {
    this.#request.end(this.body.slice(5));
    return this.answer;
  }
}

/** Opens many other databases, so that those in use are no longer among the most recently used. */
async function openMany(): Promise<void> {
  for (let from = 0; from < crowd.length; from += 50)
    await Promise.all(crowd.slice(from, from + 50).map((name) => client.put(`/${name}`)));
  for (let from = 0; from < crowd.length; from += 100) {
    const { body } = await client.post('/_dbs_info', { keys: crowd.slice(from, from + 100) });
    for (const { info } of body) assert.equal(info.doc_count, 0);
  }
}

/** Passes requests on, those of documents to write only when it is open. */
async function gatedTarget(): Promise<{ url: string; open: () => void }> {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const proxy = http.createServer((request, response) => {
    void (async () => {
      if (request.url!.includes('_bulk_docs')) await opened;
      const { url: path, method, headers } = request;
      const passed = http.request({ port, path, method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      passed.on('error', () => response.destroy());
      request.pipe(passed);
    })();
  });
  await new Promise<void>((resolve) => proxy.listen(0, resolve));
  after(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return { url: `http://${credentials}@127.0.0.1:${(proxy.address() as AddressInfo).port}`, open };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; !(await holds()); await pause(50))
    assert.ok(Date.now() < end, 'it did not come about in time');
}

const docCount = async (db: string): Promise<number> => (await client.get(db)).body.doc_count as number;

describe('a database that is in use while many others are opened', () => {
  test('hears of everything that happens to it', async () => {
    for (const name of ['deleted', 'judged', 'closed', 'source', 'target'])
      assertOk(await client.put(`/${name}`), 201);
    const docs = Array.from({ length: 4_000 }, (_, n) => ({ _id: `d${n}` }));
    assertOk(await client.post('/source/_bulk_docs', { docs }), 201);

    const upload = new HeldRequest('/deleted/doc/file', 'x'.repeat(50_000), 'image/png');
    const judged = new HeldRequest('/judged/doc', '{"a":1}');
    const limited = new HeldRequest('/closed/doc', '{"a":1}');
    const gate = await gatedTarget();
    const job = { source: 'source', target: `${gate.url}/target`, continuous: true };
    assertOk(await client.post('/_replicate', job), 202);
    await pause(500);

    await openMany();

    assertOk(await client.delete('/deleted'), 200);
    assertOk(await client.put('/deleted'), 201);
    const validate_doc_update = 'function () { throw { forbidden: "no" } }';
    assertOk(await client.put('/judged/_design/v', { validate_doc_update }), 201);
    const rules = { validate_doc_update: 'function (d, o, u, s) { throw { forbidden: s.x } }' };
    assertOk(await client.put('/closed/_design/v', rules), 201);
    assertOk(await client.put('/closed/_security', { x: 'new' }), 200);

    assert.equal((await upload.finish()).status, 404, 'an upload into a deleted database');
    assertRefused(await client.get('/deleted/doc'), 404);
    assert.equal((await judged.finish()).status, 403, 'a document against a new validation function');
    assertRefused(await client.get('/judged/doc'), 404);
    assert.match((await limited.finish()).text, /"reason":"new"/, 'the security object that functions see');

    gate.open();
    for (let n = 0; n < 5; n++) assertOk(await client.put(`/source/more${n}`, {}), 201);
    await until(async () => (await docCount('/target')) === 4_005);
  });

  test('ends a feed that begins after it was deleted', async () => {
    assertOk(await client.put('/old'), 201);
    const body = '{"selector":{}}';
    const path = '/old/_changes?feed=continuous&filter=_selector&timeout=60000&heartbeat=1000';
    const feed = new HeldRequest(path, body, 'application/json', 'POST');
    await pause(100);
    assertOk(await client.delete('/old'), 200);
    assertOk(await client.put('/old'), 201);
    const ended = await Promise.race([feed.finish(), pause(10_000, undefined, { ref: false })]);
    assert.ok(ended !== undefined, 'the feed goes on for ever');
  });
});
