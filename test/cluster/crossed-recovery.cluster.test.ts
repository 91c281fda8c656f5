import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecoveryReport } from '../../src/cluster/recovery.js';
import type { HttpClient } from '../support/http-client.js';
import { command } from './cluster-command.js';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const fresh = { 'x-tuffet-reads': 'fresh' };
/** So much is kept as a file, which documents name. */
const attached = 'Little Miss Muffet '.repeat(3_000);
const option = '_config/couchdb/max_document_size';

/**
 * A cluster that has lost two streams. The last node has more of the catalogue than the others, a shared option, and the others
 * have more documents than it, one with an attachment: each needs what only the other has.
 */
class DamagedCluster {
  private constructor(
    private readonly nats: TestNats,
    readonly nodes: readonly TestNode[],
  ) {}

  static async start(): Promise<DamagedCluster> {
    const nats = await TestNats.start();
    const settings = { streams: '2', write_timeout_ms: '10000' };
    const nodes = await Promise.all(
      ['a', 'b', 'c'].map((name) => TestNode.start({ nats: nats.url, name, settings })),
    );
    const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
    assert.equal((await a.client.put('/db')).status, 201);
    assert.equal((await c.client.get('/db', fresh)).status, 200);
    await c.end('SIGTERM');
    for (let n = 0; n < 40; n++) assert.equal((await a.client.put(`/db/d${n}`, {})).status, 201);
    const _attachments = { text: { content_type: 'text/plain', data: btoa(attached) } };
    assert.equal((await a.client.put('/db/attached', { _attachments })).status, 201);
    assert.equal((await b.client.get('/db/attached', fresh)).status, 200);
    await Promise.all([a.end('SIGTERM'), b.end('SIGTERM')]);
    await nats.manage((manager) => manager.streams.delete('tuffet-1'));
    await c.run();
    for (let n = 1; n <= 60; n++) {
      const { status, text } = await c.client.put(`/_node/_all/${option}`, String(1_000_000 + n));
      assert.equal(status, 200, text);
    }
    await nats.manage((manager) => manager.streams.delete('tuffet-catalogue'));
    await Promise.all([a.run(), b.run()]);
    for (const { client } of nodes) await until(async () => (await client.get('/_up')).status === 404);
    return new DamagedCluster(nats, nodes);
  }

  /** All nodes have all of it, and take writes. */
  async check(): Promise<void> {
    for (const { client, name } of this.nodes) {
      assert.equal((await client.put(`/db/by-${name}`, {})).status, 201);
      const { status, body } = await client.get('/db/_all_docs', fresh);
      assert.equal(status, 200, JSON.stringify(body));
      const ids = (body.rows as { id: string }[]).map(({ id }) => id);
      assert.equal(ids.filter((id) => !id.startsWith('by-')).length, 41);
      assert.equal((await client.get('/db/attached/text')).text, attached);
      assert.equal((await client.get(`/_node/_local/${option}`)).body, '1000060');
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
    await this.nats.close();
  }
}

async function isTakenOver(client: HttpClient): Promise<boolean> {
  const { streams, copying } = (await client.get('/_cluster/recover')).body as Partial<RecoveryReport>;
  return streams?.length === 0 && copying?.length === 0;
}

test('two streams that go on from two nodes are taken over by both', skipWithoutNats, async () => {
  const cluster = await DamagedCluster.start();
  try {
    const [a] = cluster.nodes;
    const { code, output } = await command(a!, 'recover');
    assert.equal(code, 1, output);
    assert.match(output, /Stream catalogue\n[^]*tuffet@c [^\n]* the stream goes on from it/);
    assert.match(output, /Stream 1\n[^]*tuffet@a [^\n]* the stream goes on from it/);
    assert.equal((await a!.client.post('/_cluster/recover', {})).status, 202);
    for (const { client } of cluster.nodes) await until(() => isTakenOver(client));
    for (const { client } of cluster.nodes)
      await until(async () => {
        const { status, text } = await client.get('/_up');
        assert.doesNotMatch(text, /cut off/);
        return status === 200;
      });
    await cluster.check();
  } finally {
    await cluster.close();
  }
});

test('also where all are killed when the streams have just been made anew', skipWithoutNats, async () => {
  const cluster = await DamagedCluster.start();
  try {
    const [a, b] = cluster.nodes;
    assert.equal((await a!.client.post('/_cluster/recover', {})).status, 202);
    await Promise.all(cluster.nodes.map((node) => node.end('SIGKILL')));
    await Promise.all(cluster.nodes.map((node) => node.run()));
    await until(async () => (await command(b!, 'recover', '--yes')).code === 0);
    await cluster.check();
  } finally {
    await cluster.close();
  }
});
