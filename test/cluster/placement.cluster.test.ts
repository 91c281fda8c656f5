import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import WebSocket from 'ws';
import type { RebalanceReport } from '../../src/cluster/rebalancing.js';
import { command } from './cluster-command.js';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const fresh = { 'x-tuffet-reads': 'fresh' };
const authorization = `Basic ${btoa('admin:secret')}`;
const large = randomBytes(150_000);
const names = ['d0', 'd1', 'd2', 'd3', 'd4', 'd5', 'd6', 'd7'];

const erasingMs = 3_000;

describe('streams that some nodes host', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const settings = { hosts: '2', streams: '4', trim_messages: '5' };
  const nodes = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => TestNode.start({ nats: nats.url, name, settings })),
  );
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });
  const [a, b, c, d] = nodes as [TestNode, TestNode, TestNode, TestNode];
  const saved = new Map<string, Set<string>>(names.map((name) => [name, new Set()]));
  let count = 0;

  const report = async (node = a): Promise<RebalanceReport> =>
    (await node.client.get('/_cluster/rebalance')).body as RebalanceReport;
  const isSettled = ({ streams }: RebalanceReport): boolean =>
    streams.every(({ hosts, coming, leaving }) => hosts.length === 2 && coming.length + leaving.length === 0);
  const hostsOf = async (name: string, node = a): Promise<string[]> => {
    const { body } = await node.client.get(`/${name}/_shards`);
    return Object.values(body.shards as Record<string, string[]>)[0]!;
  };
  const nodeOf = (name: string): TestNode => nodes.find((node) => node.name === name)!;

  /** Writes to all databases through these nodes until it is ended. */
  function writing(through: readonly TestNode[]): () => Promise<void> {
    let isEnded = false;
    const writers = through.map(async (node) => {
      while (!isEnded) {
        const name = names[count % names.length]!;
        const id = `n${count++}`;
        const answer = await node.client.put(`/${name}/${id}`, { count }).catch(() => undefined);
        if (answer?.status === 201) saved.get(name)!.add(id);
        else await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });
    return async () => {
      isEnded = true;
      await Promise.all(writers);
    };
  }

  /** All nodes give all that was acknowledged. */
  async function checkSaved(through: readonly TestNode[] = nodes): Promise<void> {
    for (const [name, ids] of saved)
      for (const { client } of through) {
        const { status, body, text } = await client.get(`/${name}/_all_docs`, fresh);
        assert.equal(status, 200, text);
        const found = new Set((body.rows as { id: string }[]).map(({ id }) => id));
        assert.deepEqual(
          [...ids].filter((id) => !found.has(id)),
          [],
        );
      }
  }

  test('all nodes host all streams, until a rebalance is asked for', async () => {
    for (const name of names) assert.equal((await a.client.put(`/${name}`)).status, 201);
    assert.equal((await hostsOf('d0')).length, 4);
    assert.deepEqual((await a.client.get('/d0')).body.cluster, { q: 8, n: 4, w: 3, r: 3 });
    const { code, output } = await command(a, 'rebalance');
    assert.equal(code, 1, output);
    assert.match(output, /Nothing was changed/);
  });

  test('a rebalance under writes loses nothing that was acknowledged', async () => {
    const headers = { 'content-type': 'application/octet-stream' };
    for (const name of names)
      assert.equal((await b.client.send('PUT', `/${name}/file/large`, { raw: large, headers })).status, 201);
    const end = writing(nodes);
    await until(() => [...saved.values()].every(({ size }) => size > 10));
    const { code, output } = await command(b, 'rebalance', '--yes');
    assert.equal(code, 0, output);
    assert.match(output, /All streams are where they belong/);
    await end();
    const { streams } = await report(d);
    for (const { hosts } of streams) assert.equal(hosts.length, 2);
    const loads = nodes.map(({ name }) => streams.filter(({ hosts }) => hosts.includes(name)).length);
    assert.ok(Math.max(...loads) - Math.min(...loads) <= 1, loads.join());
    await checkSaved();
    const again = await command(c, 'rebalance');
    assert.deepEqual([again.code, again.output], [0, 'There is nothing to move.\n']);
  });

  test('any node answers for any database', async () => {
    for (const { client } of nodes) {
      for (const name of names) {
        const answer = await fetch(`${client.url}/${name}/file/large`, {
          headers: { ...fresh, authorization },
        });
        assert.ok(large.equals(Buffer.from(await answer.arrayBuffer())), name);
      }
      const views = { v: { map: 'function (doc) { emit(doc._id, 1); }', reduce: '_count' } };
      const put = await client.put(`/d1/_design/${client.url.slice(-5)}`, { views }, fresh);
      assert.equal(put.status, 201, put.text);
      const view = await client.get(`/d1/_design/${client.url.slice(-5)}/_view/v`, fresh);
      assert.ok(view.body.rows[0].value > 10);
      const bulk = await client.post('/d2/_bulk_docs', { docs: [{ via: client.url }, {}] }, fresh);
      assert.equal(bulk.status, 201);
      assert.equal((await client.post('/d4?w=2', {}, fresh)).status, 201);
      assert.equal((await client.post('/d4?w=3', {}, fresh)).status, 202);
      const { body } = await client.post('/_dbs_info', { keys: names }, fresh);
      for (const { info } of body) {
        assert.ok(info.doc_count > 10);
        assert.deepEqual(info.cluster, { q: 8, n: 2, w: 2, r: 2 });
      }
      assert.equal((await client.get('/_dbs_info')).body.length, (await client.get('/_all_dbs')).body.length);
      assert.equal((await client.get('/d3/none')).status, 404);
      assert.equal((await client.get('/none')).status, 404);
    }
  });

  test('feeds go through nodes that do not host the database', async () => {
    const hosts = await hostsOf('d5');
    const other = nodes.find(({ name }) => !hosts.includes(name))!;
    const feed = await fetch(`${other.client.url}/d5/_changes?feed=continuous&since=now&include_docs=true`, {
      headers: { authorization },
    });
    const reader = feed.body!.getReader();
    const socket = new WebSocket(`${other.client.url.replace('http', 'ws')}/d5/_changes?since=now`, {
      headers: { authorization },
    });
    const messages: string[] = [];
    socket.on('message', (data: Buffer) => messages.push(data.toString()));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.send(JSON.stringify({ type: 'credit', rows: 10 }));
    await nodeOf(hosts[0]!).client.put('/d5/told', { told: true });
    let text = '';
    while (!text.includes('told')) text += Buffer.from((await reader.read()).value!).toString();
    await reader.cancel();
    await until(() => messages.some((message) => message.includes('told')));
    socket.close();
  });

  test('databases are made, secured, replicated and deleted through any node', async () => {
    for (const [at, { client }] of nodes.entries()) {
      const [source, target] = [`d${at}`, `copy-${at}`];
      const body = { source, target, create_target: true };
      const replicated = await client.post('/_replicate', body, fresh);
      assert.equal(replicated.status, 200, replicated.text);
      const infos = await client.post('/_dbs_info', { keys: [source, target] }, fresh);
      const [one, other] = (infos.body as { info: { doc_count: number } }[]).map(
        ({ info }) => info.doc_count,
      );
      assert.equal(one, other);
      const secured = await client.put(
        `/${target}/_security`,
        { members: { names: ['x'], roles: [] } },
        fresh,
      );
      assert.equal(secured.status, 200);
      for (const node of nodes)
        assert.equal((await fetch(`${node.client.url}/${target}`, { headers: fresh })).status, 401);
      assert.equal((await client.delete(`/${target}`, fresh)).status, 200);
      assert.equal((await nodes[(at + 1) % 4]!.client.get(`/${target}`, fresh)).status, 404);
    }
  });

  test('updates of databases are told, whoever hosts them', async () => {
    await until(async () => {
      await a.client.put(`/d6/n${count++}`, {});
      const { body } = await a.client.get('/_db_updates');
      return names.every((name) =>
        (body.results as { db_name: string; type: string }[]).some(
          ({ db_name, type }) => db_name === name && (type === 'updated' || name !== 'd6'),
        ),
      );
    });
  });

  test('a host that is killed is missed by nobody', async () => {
    const { streams } = await report();
    const victim = nodeOf(streams[0]!.hosts[0]!);
    const others = nodes.filter((node) => node !== victim);
    await victim.end('SIGKILL');
    const end = writing(others);
    const before = [...saved.values()].map(({ size }) => size);
    await until(() => [...saved.values()].every(({ size }, at) => size > before[at]! + 5));
    await end();
    await checkSaved(others);
    await victim.run();
    await checkSaved([victim]);
  });

  test('a move goes on after a node was killed in the middle of it', async () => {
    const end = writing([a, b]);
    const moving = command(a, 'drain', 'd', '--move');
    await until(async () => (await report()).streams.some(({ coming }) => coming.length > 0));
    await c.end('SIGKILL');
    await c.run();
    const { code, output } = await moving;
    assert.equal(code, 0, output);
    await end();
    await until(async () => isSettled(await report()));
    const { streams } = await report();
    assert.ok(
      streams.every(({ hosts }) => !hosts.includes(d.name)),
      JSON.stringify(streams),
    );
    await checkSaved();
    assert.equal((await command(a, 'drain', 'd', '--undo')).code, 0);
  });

  test('a node that has lost its data copies what it hosts, and nothing else', async () => {
    const { streams } = await report();
    const loads = (name: string): number => streams.filter(({ hosts }) => hosts.includes(name)).length;
    const victim = [b, c].sort((one, other) => loads(other.name) - loads(one.name))[0]!;
    await victim.wipe();
    const end = writing([a]);
    await victim.run();
    await end();
    await until(async () => {
      const { body } = await victim.client.get('/_cluster');
      const own = body.nodes.find(({ name }: { name: string }) => name === victim.name);
      return own.serves.length === loads(victim.name);
    });
    await checkSaved();
  });

  test('hosts have the same bytes in the end, and others have none', async () => {
    await checkSaved();
    const places = new Map<string, string[]>();
    for (const name of names) places.set(name, await hostsOf(name));
    await until(async () => isSettled(await report()));
    await Promise.all(nodes.map((node) => node.end('SIGTERM')));
    const isErased = async (): Promise<boolean> => {
      for (const [name, hosts] of places)
        for (const node of nodes.filter((each) => !hosts.includes(each.name)))
          if ((await node.contents(name)).documents.length > 0) return false;
      return true;
    };
    // A node that was stopped before it had erased what it hosts no longer goes on with it.
    await until(async () => {
      if (await isErased()) return true;
      await Promise.all(nodes.map((node) => node.run()));
      await new Promise((resolve) => setTimeout(resolve, erasingMs));
      await Promise.all(nodes.map((node) => node.end('SIGTERM')));
      return false;
    });
    for (const [name, hosts] of places) {
      const contents = await Promise.all(nodes.map((node) => node.contents(name)));
      const found = contents.map(({ documents }) => documents);
      const first = found[nodes.findIndex((node) => node.name === hosts[0])]!;
      assert.ok(first.length > 20);
      for (const [at, node] of nodes.entries()) {
        if (hosts.includes(node.name)) assert.ok(isDeepStrictEqual(found[at], first), `${name} ${node.name}`);
        else assert.deepEqual(found[at], [], `${name} ${node.name}`);
      }
      assert.ok(contents.every(({ databases }) => isDeepStrictEqual(databases, contents[0]!.databases)));
    }
    for (const { folder } of nodes)
      assert.deepEqual(
        fs.readdirSync(path.join(folder)).filter((name) => name.startsWith('spool-copy-')),
        [],
      );
  });
});
