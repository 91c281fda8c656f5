import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { after, describe, test } from 'node:test';
import type { RebalanceReport } from '../../src/cluster/rebalancing.js';
import type { ClusterStatus } from '../../src/cluster/status.js';
import { command } from './cluster-command.js';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const fresh = { 'x-tuffet-reads': 'fresh' };
const authorization = `Basic ${btoa('admin:secret')}`;

describe('streams that are moved', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const settings = { hosts: '1', streams: '2', trim_messages: '1', forward_timeout_ms: '1500' };
  const nodes = await Promise.all(
    ['a', 'b', 'c'].map((name) => TestNode.start({ nats: nats.url, name, settings })),
  );
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });
  const [a] = nodes as [TestNode, TestNode, TestNode];

  const report = async (node = a): Promise<RebalanceReport['streams'][number]> =>
    ((await node.client.get('/_cluster/rebalance')).body as RebalanceReport).streams[0]!;
  const nodeOf = (name: string): TestNode => nodes.find((node) => node.name === name)!;
  const host = async (): Promise<TestNode> => nodeOf((await report()).hosts[0]!);
  const isSettled = async (): Promise<boolean> => {
    const { hosts, coming, leaving } = await report();
    return hosts.length === 1 && coming.length + leaving.length === 0;
  };
  const moveAway = async (node: TestNode, through: TestNode): Promise<void> => {
    const { status, text } = await through.client.post('/_cluster/rebalance', { without: node.name });
    assert.equal(status, 202, text);
  };

  test('requests under way when streams are moved for the first time are answered', async () => {
    assert.equal((await a.client.put('/db')).status, 201);
    await until(async () => (await a.client.get('/_membership')).body.all_nodes.length === 3);
    const { planned } = await report();
    const leaving = nodes.find(({ name }) => !planned.includes(name))!;
    const bytes = randomBytes(100_000);
    const upload = http.request(`${leaving.client.url}/db/doc/file`, {
      method: 'PUT',
      headers: { authorization, 'content-type': 'application/octet-stream', 'content-length': bytes.length },
    });
    const answered = new Promise<number>((resolve, reject) => {
      upload.on('error', reject);
      upload.on('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode!);
      });
    });
    upload.write(bytes.subarray(0, 50_000));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await moveAway(leaving, a);
    await until(async () => (await report()).leaving.join() === leaving.name);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    upload.end(bytes.subarray(50_000));
    assert.equal(await answered, 201);
    await until(isSettled);
    for (const { client } of nodes) {
      const answer = await fetch(`${client.url}/db/doc/file`, { headers: { authorization, ...fresh } });
      assert.ok(bytes.equals(Buffer.from(await answer.arrayBuffer())));
    }
  });

  test('requests that clients have broken off keep no stream on a node', async () => {
    const leaving = await host();
    for (let round = 0; round < 40; round++) {
      const breakingOff = new AbortController();
      const asked = fetch(`${leaving.client.url}/db`, {
        headers: { authorization, ...fresh },
        signal: breakingOff.signal,
      });
      setTimeout(() => breakingOff.abort(), round / 8);
      await asked.catch(() => undefined);
    }
    await moveAway(leaving, leaving);
    await until(async () => (await host()) !== leaving && (await isSettled()));
  });

  test('a node that copies a stream from one that is silent can be stopped', async () => {
    const silent = await host();
    for (let count = 0; count < 10; count++) await a.client.put(`/db/n${count}`, {});
    // So that a new host has to copy.
    await until(async () => {
      const { streams } = (await silent.client.get('/_cluster')).body as ClusterStatus;
      return streams.find(({ stream }) => stream === '1')!.first! > 1;
    });
    const others = nodes.filter((node) => node !== silent);
    silent.process.kill('SIGSTOP');
    try {
      await moveAway(silent, others[0]!);
      const { coming } = await report(others[0]);
      const stopped = nodeOf(coming[0]!);
      await until(() => /copying the databases of another node/.test(stopped.log));
      const beganMs = Date.now();
      await stopped.end('SIGTERM');
      assert.ok(Date.now() - beganMs < 10_000);
      await stopped.run();
    } finally {
      silent.process.kill('SIGCONT');
    }
    await until(isSettled);
    assert.equal((await a.client.get('/db', fresh)).body.doc_count, 11);
  });

  test('an answer that takes a node long is waited for on others', async () => {
    const map =
      'function (doc) { for (const until = Date.now() + 300; Date.now() < until;); emit(doc._id); }';
    assert.equal((await a.client.put('/db/_design/slow', { views: { v: { map } } })).status, 201);
    const serving = await host();
    const other = nodes.find((node) => node !== serving)!;
    const { status, body, text } = await other.client.get('/db/_design/slow/_view/v', fresh);
    assert.equal(status, 200, text);
    assert.equal(body.rows.length, 11);
  });

  test('functions see nothing of what nodes say to each other, and cannot say it', async () => {
    const show = 'function (doc, req) { return { json: req.headers }; }';
    const admin = encodeURIComponent(JSON.stringify({ name: 'admin', roles: ['_admin'] }));
    const rewrites = `function (req) {
      return { path: '_show/seen', headers: { 'X-Tuffet-Cluster-User': '${admin}', 'X-Given': '1' } };
    }`;
    assert.equal((await a.client.put('/db/_design/f', { shows: { seen: show }, rewrites })).status, 201);
    const serving = await host();
    for (const { client } of nodes.filter((node) => node !== serving)) {
      const headers = { 'X-Own': '1' };
      const { body: seen } = await client.get('/db/_design/f/_show/seen', { ...fresh, ...headers });
      assert.deepEqual(internal(seen), []);
      assert.equal(seen['X-Own'], '1');
      const { body: rewritten } = await client.get('/db/_design/f/_rewrite/x', { ...fresh, ...headers });
      assert.deepEqual(internal(rewritten), []);
      assert.equal(rewritten['X-Given'], '1');
    }
  });

  const internal = (headers: object): string[] =>
    Object.keys(headers).filter((name) => /^x-tuffet-(?!reads$)/i.test(name));
});

test('streams without databases, or without documents, are moved too', skipWithoutNats, async (context) => {
  const nats = await TestNats.start();
  const settings = { hosts: '1', streams: '4' };
  const environment = { TUFFET__CHTTPD_AUTH__AUTHENTICATION_DB: 'accounts' };
  const first = await TestNode.start({ nats: nats.url, name: 'a', settings, environment });
  const second = await TestNode.start({ nats: nats.url, name: 'b', settings, environment });
  context.after(async () => {
    await Promise.all([first.close(), second.close()]);
    await nats.close();
  });
  assert.equal((await first.client.put('/empty')).status, 201);
  await first.client.get('/_dbs_info', fresh);
  await until(async () => (await first.client.get('/_membership')).body.all_nodes.length === 2);
  const { code, output } = await command(first, 'rebalance', '--yes');
  assert.equal(code, 0, output);
  for (const { client } of [first, second]) assert.equal((await client.get('/empty', fresh)).status, 200);
  // Every node needs the accounts.
  const { shards } = (await first.client.get('/accounts/_shards')).body as {
    shards: Record<string, string[]>;
  };
  assert.equal(Object.values(shards)[0]!.length, 2);
});
