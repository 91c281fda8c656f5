import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, beforeEach, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { command } from './cluster-command.js';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const fresh = { 'x-tuffet-reads': 'fresh' };

describe('a damaged log', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const settings = { streams: '2', write_timeout_ms: '10000' };
  const nodes = await Promise.all(
    ['a', 'b', 'c'].map((name) => TestNode.start({ nats: nats.url, name, settings })),
  );
  const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });
  let count = 0;
  const saved = new Set<string>();

  assert.equal((await a.client.put('/db')).status, 201);
  await Promise.all(nodes.map(({ client }) => client.get('/db', fresh)));

  const write = async (node: TestNode, docs: number): Promise<void> => {
    for (let n = 0; n < docs; n++) {
      const id = `d${count++}`;
      const { status, text: answer } = await node.client.put(`/db/${id}`, { by: node.name });
      assert.equal(status, 201, answer);
      saved.add(id);
    }
  };
  const refusal = async (node: TestNode): Promise<string> => {
    let reason = '';
    await until(async () => {
      const { status, body } = await node.client.put(`/db/refused`, {});
      reason = String(body.reason);
      return status === 503 && reason.includes('cannot be followed');
    });
    return reason;
  };
  const idsOf = async (node: TestNode, headers: Record<string, string> = fresh): Promise<Set<string>> => {
    const { status, body } = await node.client.get('/db/_all_docs', headers);
    assert.equal(status, 200, JSON.stringify(body));
    return new Set((body.rows as { id: string }[]).map(({ id }) => id));
  };

  /** All nodes take writes, and have the documents that were saved. */
  const checkWhole = async (): Promise<void> => {
    for (const node of nodes) await write(node, 2);
    for (const node of nodes) {
      assert.deepEqual(await idsOf(node), saved);
      assert.equal((await node.client.get('/_up')).status, 200);
    }
  };

  beforeEach(() => write(a, 3));

  test('is not recovered while it is sound', async () => {
    const { status, body } = await a.client.post('/_cluster/recover', {});
    assert.deepEqual([status, body.reason], [400, 'No stream is damaged: there is nothing to recover.']);
    const { code, output } = await command(b, 'recover', '--yes');
    assert.equal(code, 0, output);
    assert.match(output, /No stream is damaged/);
    assert.equal((await a.client.post('/_cluster/recover', { from: 1 })).status, 400);
    assert.equal((await a.client.get('/_cluster/recover?from=nowhere')).status, 404);
    assert.equal((await a.client.anonymous.get('/_cluster/recover')).status, 401);
    assert.equal((await a.client.anonymous.post('/_cluster_recover', { streams: {} })).status, 401);
    assert.equal((await a.client.anonymous.post('/_cluster_places', {})).status, 401);
    await checkWhole();
  });

  test('whose stream was deleted takes no writes, and is made anew from a node', async () => {
    await nats.manage((manager) => manager.streams.delete('tuffet-1'));
    for (const node of nodes) assert.match(await refusal(node), /do not have it/);
    for (const node of nodes) {
      assert.deepEqual(await idsOf(node, {}), saved);
      const up = await node.client.get('/_up');
      assert.equal(up.status, 404);
      assert.match(up.text, /tuffet-1/);
    }
    const shown = await command(a, 'recover');
    assert.equal(shown.code, 1);
    assert.match(shown.output, /Stream 1\n/);
    assert.match(shown.output, /tuffet@c +[0-9a-f]{16} +\d+ +[0-9a-f]{32}/);
    assert.match(shown.output, /Nothing was changed/);
    await refusal(a);
    const { code, output } = await command(a, 'recover', '--yes');
    assert.equal(code, 0, output);
    assert.match(output, /write again/);
    await checkWhole();
    assert.equal((await a.client.post('/_cluster/recover', {})).status, 400);
  });

  test('whose stream was created anew is made anew from a node, and a new node copies it', async () => {
    await nats.manage(async (manager) => {
      const { config } = await manager.streams.info('tuffet-1');
      await manager.streams.delete('tuffet-1');
      await manager.streams.add({ ...config, description: 'epoch 0123456789abcdef' });
    });
    for (const node of nodes) assert.match(await refusal(node), /created anew/);
    assert.equal((await command(b, 'recover', '--yes')).code, 0);
    await checkWhole();
    await c.wipe();
    await c.run();
    await checkWhole();
  });

  test('without its last messages goes on from the node that has them', async () => {
    const backup = fs.mkdtempSync(`${nats.folder}-backup-`);
    // It has nothing of what the backup has not.
    await c.end('SIGTERM');
    await nats.kill('SIGTERM');
    fs.cpSync(nats.folder, backup, { recursive: true });
    await nats.run();
    for (const { client } of [a, b]) await until(async () => (await client.get('/db', fresh)).status === 200);
    await write(a, 12);
    await write(b, 12);
    await nats.kill();
    fs.rmSync(nats.folder, { recursive: true });
    fs.renameSync(backup, nats.folder);
    await nats.run();
    await Promise.all([refusal(a), refusal(b)]);
    // The positions are used again, by one that has not had the messages.
    await c.run();
    for (const id of ['x1', 'x2']) assert.equal((await c.client.put(`/db/${id}`, {})).status, 201);
    const shown = await command(a, 'recover');
    assert.equal(shown.code, 1, shown.output);
    assert.match(shown.output, /tuffet@c .* loses (?:messages up to|what it has)/);
    const { code, output } = await command(c, 'recover', '--yes');
    assert.equal(code, 0, output);
    await checkWhole();
  });

  test('that is killed in the middle of its recovery is recovered by another try', async (t) => {
    for (const delayMs of [0, 100, 400]) {
      await nats.manage(async (manager) => {
        await manager.streams.delete('tuffet-1');
        await manager.streams.delete('tuffet-catalogue');
      });
      for (const node of nodes) await refusal(node);
      const begun = a.client.post('/_cluster/recover', {}).then(
        ({ status }) => status,
        () => 'no answer',
      );
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await Promise.all(nodes.map((node) => node.end('SIGKILL')));
      t.diagnostic(`killed after ${delayMs} ms: ${await begun}`);
      await Promise.all(nodes.map((node) => node.run()));
      await until(async () => (await command(b, 'recover', '--yes')).code === 0);
      await checkWhole();
    }
  });

  test('has the same bytes on all nodes in the end', async () => {
    await Promise.all(nodes.map(({ client }) => client.get('/db', fresh)));
    await Promise.all(nodes.map((node) => node.end('SIGTERM')));
    const [first, ...others] = await Promise.all(nodes.map((node) => node.contents('db')));
    assert.ok(first!.documents.length > saved.size);
    for (const other of others) assert.ok(isDeepStrictEqual(other, first));
  });
});

test('a node that reads fresh recovers the streams of databases and accounts', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const settings = { reads: 'fresh', write_timeout_ms: '2000' };
  const node = await TestNode.start({ nats: nats.url, name: 'a', settings });
  try {
    assert.equal((await node.client.put('/db')).status, 201);
    await nats.manage(async (manager) => {
      for (const name of ['tuffet-catalogue', 'tuffet-0']) await manager.streams.delete(name);
    });
    await until(async () => (await node.client.get('/_up')).status === 404);
    await until(async () => (await node.client.get('/_cluster/recover')).body.streams?.length === 2);
    const { code, output } = await command(node, 'recover', '--yes');
    assert.equal(code, 0, output);
    assert.equal((await node.client.put('/db/doc', {})).status, 201);
  } finally {
    await node.close();
    await nats.close();
  }
});
