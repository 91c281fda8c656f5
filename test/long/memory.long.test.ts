import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { rawRequest } from './raw-client.js';
import { ServerProcess, withoutProc } from './server-process.js';

const growthMax_mb = 150;
const documents = 1_000_000;
const batch = 10_000;

const json = { 'Content-Type': 'application/json' };

/** Asks a little of everything first: what the first request of a kind costs once is not what is looked for. */
async function settle(server: ServerProcess, database: string): Promise<void> {
  for (let i = 0; i < 50; i++) {
    await (await fetch(`${server.url}/${database}/_all_docs?include_docs=true&limit=100`)).text();
    const body = JSON.stringify({ docs: [{ _id: `warm-${i}`, i }] });
    await (
      await fetch(`${server.url}/${database}/_bulk_docs`, { method: 'POST', headers: json, body })
    ).text();
  }
}

async function load(server: ServerProcess, database: string): Promise<void> {
  const started = performance.now();
  for (let from = 0; from < documents; from += batch) {
    const docs = Array.from({ length: batch }, (_, at) => {
      const number = from + at;
      const _id = `doc-${number.toString().padStart(9, '0')}`;
      return { _id, number, name: `Number ${number}`, tags: ['small', 'many'], position: { x: at, y: -at } };
    });
    const answer = await fetch(`${server.url}/${database}/_bulk_docs`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ docs }),
    });
    assert.equal(answer.status, 201);
    await answer.arrayBuffer();
  }
  const rate = documents / ((performance.now() - started) / 1000);
  console.log(
    `${documents} documents loaded, ${Math.round(rate)} a second; RssAnon ${mb(server.anonymous_mb())}`,
  );
}

async function listing(server: ServerProcess, pace: { mbPerSecond?: number; forSeconds?: number }) {
  return await rawRequest({
    url: server.url,
    method: 'GET',
    path: '/many/_all_docs?include_docs=true',
    ...pace,
  });
}

test('listing a million documents takes no memory that grows with them', { skip: withoutProc }, async (t) => {
  const server = await ServerProcess.start(t);
  await server.createDatabase('many');
  await load(server, 'many');
  // What the load has left on the heap would hide the growth.
  await server.stop();
  await server.start();
  await settle(server, 'many');

  await t.test('read by a slow client', async () => {
    let answer!: Awaited<ReturnType<typeof listing>>;
    const pace = { mbPerSecond: 20, forSeconds: 8 };
    const growth = await server.growth_mb(async () => (answer = await listing(server, pace)));
    console.log(
      `slow client: RssAnon +${mb(growth)}, ${mb(answer.bytes / 1e6)} read in ${answer.seconds.toFixed(1)} s`,
    );
    assert.equal(answer.status, 200);
    assert.ok(answer.bytes > 80e6, 'the server kept the pace');
    assert.ok(growth < growthMax_mb, `grew by ${mb(growth)}`);
  });

  await t.test('read by a fast client', async () => {
    let answer!: Awaited<ReturnType<typeof listing>>;
    const growth = await server.growth_mb(async () => (answer = await listing(server, {})));
    const rate = Math.round(documents / answer.seconds);
    console.log(
      `fast client: RssAnon +${mb(growth)}, ${mb(answer.bytes / 1e6)} read, ${rate} documents a second`,
    );
    assert.equal(answer.status, 200);
    assert.match(answer.end, /\]\}\s+0\s+$/, 'the whole listing');
    assert.ok(growth < growthMax_mb, `grew by ${mb(growth)}`);
  });
});

const idBytes = 1_890;
const bulkDocuments = 100_000;

/** A bulk request with ids so long that its answer has about 200 MB. */
function* longIds(): Generator<Buffer> {
  yield Buffer.from('{"docs":[');
  const group = 100;
  for (let from = 0; from < bulkDocuments; from += group) {
    const docs = Array.from({ length: group }, (_, at) => `{"_id":"${longId(from + at)}","n":${at}}`);
    yield Buffer.from((from === 0 ? '' : ',') + docs.join(','));
  }
  yield Buffer.from(']}');
}

const longId = (number: number): string => `${number.toString().padStart(8, '0')}-`.padEnd(idBytes, 'x');

async function bulk(t: TestContext, mbPerSecond: number | undefined): Promise<void> {
  const server = await ServerProcess.start(t);
  await server.createDatabase('long-ids');
  await settle(server, 'long-ids');
  let length = 0;
  for (const piece of longIds()) length += piece.length;
  let answer!: Awaited<ReturnType<typeof rawRequest>>;
  const growth = await server.growth_mb(async () => {
    answer = await rawRequest({
      url: server.url,
      method: 'POST',
      path: '/long-ids/_bulk_docs',
      headers: { ...json, 'Content-Length': String(length) },
      body: longIds(),
      ...(mbPerSecond === undefined ? {} : { mbPerSecond }),
    });
  });
  const sizes = `${mb(length / 1e6)} sent, ${mb(answer.bytes / 1e6)} answered in ${answer.seconds.toFixed(1)} s`;
  console.log(`_bulk_docs read at ${mbPerSecond ?? 'any'} MB/s: RssAnon +${mb(growth)}, ${sizes}`);
  assert.equal(answer.status, 201);
  assert.ok(answer.bytes > bulkDocuments * idBytes, 'every document has its row');
  const info = (await (await fetch(`${server.url}/long-ids`)).json()) as { doc_count: number };
  assert.equal(info.doc_count, bulkDocuments + 50);
  assert.ok(growth < growthMax_mb, `grew by ${mb(growth)}`);
}

test('a bulk answer of 200 MB read slowly is not kept in memory', { skip: withoutProc }, async (t) => {
  await bulk(t, 20);
});

test('a bulk answer of 200 MB read fast is not kept in memory', { skip: withoutProc }, async (t) => {
  await bulk(t, undefined);
});

const mb = (value: number): string => `${Math.round(value)} MB`;
