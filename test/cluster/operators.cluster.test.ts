import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { command } from './cluster-command.js';
import { tellOfMember } from './fake-member.js';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';

describe('the operators of a cluster', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const nodes = await Promise.all(['a', 'b', 'c'].map((name) => TestNode.start({ nats: nats.url, name })));
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });
  const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
  const names = nodes.map(({ name }) => name);
  const status = async () => (await a.client.get('/_cluster')).body;
  await until(async () => (await a.client.get('/_membership')).body.all_nodes.length === 3);

  test('see nodes, streams, positions and lag', async () => {
    await b.client.put('/seen');
    await until(async () => (await status()).owner !== null);
    const found = await status();
    assert.equal(found.name, 'tuffet');
    assert.equal(found.node, a.name);
    assert.ok(names.includes(found.owner));
    assert.deepEqual(
      found.nodes.map(({ name, is_there }: { name: string; is_there: boolean }) => [name, is_there]),
      names.map((name) => [name, true]),
    );
    assert.deepEqual(found.streams.map(({ stream }: { stream: string }) => stream).sort(), [
      '0',
      '1',
      'catalogue',
    ]);
    for (const stream of found.streams) {
      assert.match(stream.epoch, /^[0-9a-f]{16}$/);
      assert.ok(stream.lag + stream.position >= stream.last, JSON.stringify(stream));
    }
    const { code, output } = await command(a, 'status');
    assert.equal(code, 0);
    assert.match(output, /tuffet@b +there/);
    assert.match(output, /catalogue +[0-9a-f]{16}/);
    const figures = (await a.client.get('/_node/_local/_prometheus')).text;
    assert.match(figures, /tuffet_cluster_stream_position\{stream="catalogue"\} [1-9]/);
    assert.match(figures, /tuffet_cluster_stream_lag\{stream="1"\} \d/);
    assert.match(figures, /couchdb_membership\{nodes="cluster_nodes"\} 3/);
    assert.equal((await a.client.anonymous.get('/_cluster')).status, 401);
  });

  test('are told by every node that the cluster is set up', async () => {
    const named = '/_cluster_setup?ensure_dbs_exist=["_users","missing"]';
    const order = {
      action: 'enable_cluster',
      bind_address: '0.0.0.0',
      node_count: 3,
      username: 'x',
      password: 'x',
    };
    for (const { client } of nodes) {
      assert.deepEqual((await client.get('/_cluster_setup')).body, { state: 'cluster_finished' });
      assert.deepEqual((await client.get(named)).body, { state: 'cluster_enabled' });
      const again = await client.post('/_cluster_setup', order);
      assert.deepEqual([again.status, again.body.reason], [400, 'Cluster is already enabled.']);
    }
  });

  test('reach every node through any', async () => {
    assert.equal((await a.client.get(`/_node/${b.name}`)).body.name, b.name);
    const set = await a.client.put(`/_node/${b.name}/_config/vendor/name`, 'set on b');
    assert.equal(set.status, 200, set.text);
    assert.equal((await b.client.get('/')).body.vendor.name, 'set on b');
    assert.notEqual((await a.client.get('/')).body.vendor.name, 'set on b');
    assert.equal((await a.client.get(`/_node/${c.name}/_system`)).status, 200);
    assert.equal((await a.client.anonymous.get(`/_node/${b.name}/_config`)).status, 401);
    const unknown = await a.client.get('/_node/tuffet@nowhere');
    assert.deepEqual([unknown.status, unknown.body.reason], [404, 'no such node: tuffet@nowhere']);
  });

  test('set admins and options for all nodes', async () => {
    assert.equal((await a.client.put('/_node/_local/_config/admins/jane', 'her password')).status, 200);
    assert.equal((await b.client.put('/_node/_all/_config/log/level', 'error')).status, 200);
    for (const { client } of nodes) {
      const jane = client.as('jane:her password');
      await until(async () => (await jane.get('/_all_dbs')).status === 200);
      await until(async () => (await client.get('/_node/_local/_config/log/level')).body === 'error');
    }
    const cookie = await login(a, 'jane', 'her password');
    const session = await b.client.anonymous.get('/_session', { cookie });
    assert.equal(session.body.userCtx.name, 'jane');
    // One that is away hears of it when it is back.
    await c.end('SIGKILL');
    assert.equal((await a.client.delete('/_node/_local/_config/admins/jane')).status, 200);
    assert.equal((await a.client.get(`/_node/_all/_config/nothing/here`)).status, 404);
    assert.equal((await a.client.put('/_node/_all/_config/log/level', 'no level')).status, 400);
    // Nodes that could not store the name would never get past it in the log.
    const long = encodeURIComponent('語'.repeat(700));
    assert.equal((await a.client.put(`/_node/_local/_config/admins/${long}`, 'x')).status, 400);
    assert.equal((await a.client.put('/_node/_all/_config/cluster/node_name', 'x')).status, 400);
    await c.run();
    for (const { client } of nodes) {
      const jane = client.as('jane:her password');
      await until(async () => (await jane.get('/_all_dbs')).status === 401);
    }
  });

  test('drain a node, which hands over what is done once per cluster', async () => {
    await until(async () => (await status()).owner !== null);
    const { owner } = await status();
    const drained = nodes.find(({ name }) => name === owner)!;
    const asked = nodes.find(({ name }) => name !== owner)!;
    const { code, output } = await command(asked, 'drain', owner);
    assert.equal(code, 0, output);
    assert.match(output, /can be stopped/);
    assert.equal((await drained.client.get('/_up')).status, 404);
    assert.notEqual((await asked.client.get('/_cluster')).body.owner, owner);
    assert.equal((await command(asked, 'drain', owner, '--undo')).code, 0);
    assert.equal((await drained.client.get('/_up')).status, 200);
  });

  test('are told by each node of the problems of the others, and by a removed one that it is', async () => {
    const end = await tellOfMember(nats.url, 'tuffet@ill', 'http://127.0.0.1:9', { problem: 'no disk' });
    await until(async () => (await a.client.get('/_up')).body.problems?.[0] === 'tuffet@ill');
    const ill = (await status()).nodes.find(({ name }: { name: string }) => name === 'tuffet@ill');
    assert.equal(ill.problem, 'no disk');
    const shown = await command(a, 'status');
    assert.equal(shown.code, 1);
    assert.match(shown.output, /tuffet@ill +there .*no disk/);
    await end();
    await until(async () => (await command(a, 'remove', 'ill')).code === 0);
    await until(async () => (await a.client.get('/_up')).text === '{"status":"ok"}\n');
    c.process.kill('SIGSTOP');
    try {
      await until(async () => (await command(a, 'remove', 'c')).code === 0);
    } finally {
      c.process.kill('SIGCONT');
    }
    await until(async () => (await c.client.get('/_up')).text.includes('was removed'));
    assert.equal((await c.client.get('/_up')).status, 404);
    await until(async () => c.log.includes('this node was removed'));
    assert.ok(!(await a.client.get('/_membership')).body.cluster_nodes.includes(c.name));
    await c.end('SIGTERM');
    await c.run();
    await until(async () => (await c.client.get('/_up')).status === 200);
    await until(async () => (await a.client.get('/_membership')).body.cluster_nodes.includes(c.name));
  });

  test('remove a node that is gone, so that attachments need a majority of the others', async () => {
    await a.client.put('/kept');
    const refused = await command(a, 'remove', 'c');
    assert.notEqual(refused.code, 0);
    assert.match(refused.output, /is running/);
    await c.end('SIGKILL');
    await until(async () => !(await a.client.get('/_membership')).body.all_nodes.includes(c.name));
    assert.equal((await a.client.get(`/_node/${c.name}/_system`)).status, 503);
    assert.equal((await command(a, 'status')).code, 1);
    assert.equal((await command(a, 'remove', 'c')).code, 0);
    for (const { client } of [a, b])
      await until(async () => (await client.get('/_membership')).body.cluster_nodes.length === 2);
    assert.equal((await command(a, 'status')).code, 0);
    assert.equal((await a.client.delete('/_cluster/nodes/tuffet@nowhere')).status, 404);
    // With b gone too, one of two is no majority; with b removed, one of one is.
    await b.end('SIGKILL');
    await until(async () => (await a.client.get('/_membership')).body.all_nodes.length === 1);
    assert.equal((await command(a, 'remove', 'b')).code, 0);
    const large = { _attachments: { large: { data: randomBytes(40_000).toString('base64') } } };
    assert.equal((await a.client.put('/kept/doc', large)).status, 201);
    // Those that come back count again.
    await Promise.all([b.run(), c.run()]);
    await until(async () => (await a.client.get('/_membership')).body.cluster_nodes.length === 3);
    const copied = await c.client.get('/kept/doc/large', { 'x-tuffet-reads': 'fresh' });
    assert.equal(copied.status, 200);
  });
});

async function login({ client }: TestNode, name: string, password: string): Promise<string> {
  const answer = await client.anonymous.post('/_session', { name, password });
  assert.equal(answer.status, 200);
  return String(answer.headers['set-cookie']).split(';')[0]!;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(50)) if (await holds()) return;
  assert.fail('it did not come about within a minute');
}
