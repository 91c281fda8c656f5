import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Answer, HttpClient } from '../support/http-client.js';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const fresh = { 'x-tuffet-reads': 'fresh' };
const large = randomBytes(150_000);

describe('streams are trimmed', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  // One of the two streams of groups has the databases of the tests.
  const settings = { absent_ms: '6000', trim_messages: '5', streams: '2' };
  const nodes = await Promise.all(
    ['a', 'b', 'c'].map((name) => TestNode.start({ nats: nats.url, name, settings })),
  );
  const connection = await connect({ servers: nats.url });
  const manager = await jetstreamManager(connection);
  after(async () => {
    await connection.close();
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });
  const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
  let count = 0;

  const state = async (stream: string): Promise<{ first: number; last: number }> => {
    const { first_seq: first, last_seq: last } = (await manager.streams.info(`tuffet-${stream}`)).state;
    return { first, last };
  };
  const isTrimmedTo = async (stream: string, seq: number): Promise<boolean> =>
    (await state(stream)).first >= seq;
  const write = async (docs: number): Promise<void> => {
    for (let n = 0; n < docs; n++) assert.equal((await a.client.put(`/db/d${count++}`, { n })).status, 201);
  };

  test('up to what all nodes have on disk, and no further while one is away', async () => {
    assert.equal((await a.client.put('/db')).status, 201);
    await write(30);
    await until(async () => (await isTrimmedTo('1', 25)) && (await isTrimmedTo('catalogue', 5)));
    await b.end('SIGTERM');
    const { last } = await state('1');
    await write(30);
    assert.ok(!(await isTrimmedTo('1', last + 2)));
    await b.run();
    await until(() => isTrimmedTo('1', last + 25));
    assert.ok(!b.log.includes('copying the databases'), b.log);
  });

  test('a node that has lost its data copies the databases of another one, while the others serve', async () => {
    const headers = { 'content-type': 'application/octet-stream' };
    const put = await a.client.send('PUT', '/db/file/large', { raw: large, headers });
    assert.equal(put.status, 201, put.text);
    await a.client.put('/gone');
    await c.wipe();
    await a.client.delete('/gone');
    let isBack = false;
    const serving = (async () => {
      while (!isBack) await write(1);
    })();
    await c.run();
    isBack = true;
    await serving;
    assert.match(c.log, /copying the databases of another node/);
    await a.client.put('/later');
    await write(5);
    await compare(c);
  });

  test('a node that was away for longer than the others wait for it does so too', async () => {
    await b.end('SIGKILL');
    await write(20);
    const { last } = await state('1');
    await until(async () => {
      await write(1);
      return await isTrimmedTo('1', last);
    });
    await b.run();
    assert.match(b.log, /copying the databases of another node/);
    await compare(b);
  });

  test('a node that was cut off for so long does so by itself', async () => {
    c.log = '';
    c.process.kill('SIGSTOP');
    // Its connection would go on receiving.
    await nats.kill();
    await nats.run();
    await until(async () => [201, 409].includes((await a.client.put(`/db/d${count}`, {})).status));
    count++;
    await write(20);
    const { last } = await state('1');
    await until(async () => {
      await write(1);
      return await isTrimmedTo('1', last);
    });
    c.process.kill('SIGCONT');
    await until(async () => {
      const answer = await c.client.get('/db', fresh).catch(() => undefined);
      return c.log.includes('copying the databases') && answer?.status === 200;
    });
    await compare(c);
  });

  test('all have the same bytes in the end', async () => {
    await Promise.all(nodes.map(({ client }) => client.get('/db', fresh)));
    await Promise.all(nodes.map((node) => node.end('SIGTERM')));
    const [first, ...others] = await Promise.all(nodes.map((node) => node.contents('db')));
    assert.ok(first!.documents.length > 100);
    for (const other of others) assert.ok(isDeepStrictEqual(other, first));
  });

  /** A node has what another one has, and takes writes. */
  async function compare(node: TestNode): Promise<void> {
    const [own, others] = await Promise.all(
      [node, a].map(async ({ client }) => ({
        databases: await read(client, '/_all_dbs'),
        documents: await read(client, '/db/_all_docs?include_docs=true'),
        changes: changesById(await read(client, '/db/_changes')),
      })),
    );
    assert.deepEqual(own, others);
    assert.equal(own!.documents.rows.length, count + 1);
    const answer = await fetch(`${node.client.url}/db/file/large`, {
      headers: { authorization: `Basic ${btoa('admin:secret')}` },
    });
    assert.equal(answer.status, 200);
    assert.ok(large.equals(Buffer.from(await answer.arrayBuffer())));
    assert.equal((await node.client.put(`/db/d${count++}`, { by: node.name })).status, 201);
  }
});

describe('only the stream of the catalogue is trimmed', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const settings = { trim_messages: '25', streams: '2' };
  const nodes = await Promise.all(
    ['a', 'b'].map((name) => TestNode.start({ nats: nats.url, name, settings })),
  );
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });
  const [a, b] = nodes as [TestNode, TestNode];

  test('a node that has lost its data copies, although it could follow the others', async () => {
    for (let n = 0; n < 40; n++) assert.equal((await a.client.put(`/empty-${n}`)).status, 201);
    for (let n = 0; n < 3; n++) assert.equal((await a.client.put(`/empty-39/d${n}`, { n })).status, 201);
    const connection = await connect({ servers: nats.url });
    const manager = await jetstreamManager(connection);
    const first = async (stream: string): Promise<number> =>
      (await manager.streams.info(`tuffet-${stream}`)).state.first_seq;
    await until(async () => (await first('catalogue')) > 1);
    assert.ok((await first('0')) <= 1 && (await first('1')) <= 1);
    await connection.close();
    await b.wipe();
    await b.run();
    assert.match(b.log, /copying the databases of another node/);
    assert.equal((await b.client.get('/empty-39', fresh)).body.doc_count, 3);
  });
});

/** The order of changes of different shards is not the same on all nodes. */
const changesById = ({ results }: Answer['body']): unknown[] =>
  (results as { id: string; changes: unknown }[])
    .map(({ id, changes }) => ({ id, changes }))
    .sort((one, other) => (one.id < other.id ? -1 : 1));

async function read(client: HttpClient, path: string): Promise<Answer['body']> {
  const { status, body } = await client.get(path, fresh);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}
