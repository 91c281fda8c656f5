import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const fresh = { 'x-tuffet-reads': 'fresh' };
const docs = ['x', 'y', 'z'];

/** Counts up documents on one node, and notes the revisions that were acknowledged. */
class Writer {
  readonly acknowledged = new Map<string, string[]>(docs.map((id) => [id, []]));
  #stopped = false;
  readonly ended: Promise<void>;

  constructor(private readonly node: TestNode) {
    this.ended = this.#run();
  }

  get count(): number {
    return [...this.acknowledged.values()].reduce((sum, { length }) => sum + length, 0);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.ended;
  }

  async #run(): Promise<void> {
    for (let n = 0; !this.#stopped; n++) {
      const id = docs[n % docs.length]!;
      const rev = await this.#increment(id).catch(() => undefined);
      if (rev !== undefined) this.acknowledged.get(id)!.push(rev);
      else await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }

  async #increment(id: string): Promise<string | undefined> {
    const { client } = this.node;
    const read = await client.get(`/db/${id}`, fresh);
    if (read.status !== 200) return undefined;
    const { _rev, n } = read.body;
    const written = await client.put(`/db/${id}`, { _rev, n: n + 1 });
    return written.status === 201 ? written.body.rev : undefined;
  }
}

describe('faults under writes', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const settings = { write_timeout_ms: '5000' };
  const nodes = await Promise.all(
    ['a', 'b', 'c'].map((name) => TestNode.start({ nats: nats.url, name, settings })),
  );
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });
  const [a, b, c] = nodes as [TestNode, TestNode, TestNode];

  const faults: Record<string, () => Promise<void>> = {
    'a node is killed': async () => {
      await b.end('SIGKILL');
      await b.run();
    },
    'a node is paused': async () => {
      c.process.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      c.process.kill('SIGCONT');
    },
    'the NATS server is killed': async () => {
      await nats.kill();
      await nats.run();
    },
    'the data folder of a node is lost': async () => {
      await c.wipe();
      await c.run();
    },
    'everything is killed at once': async () => {
      await Promise.all([nats.kill(), ...nodes.map((node) => node.end('SIGKILL'))]);
      await nats.run();
      await Promise.all(nodes.map((node) => node.run()));
    },
  };

  test('nothing acknowledged is lost, nothing is applied twice, and all nodes have the same bytes', async (t) => {
    await a.client.put('/db');
    for (const id of docs) assert.equal((await a.client.put(`/db/${id}`, { n: 0 })).status, 201);
    const writers = nodes.map((node) => new Writer(node));
    for (const [name, fault] of Object.entries(faults)) {
      const before = writers.map(({ count }) => count);
      await fault();
      await until(() => writers.every(({ count }, at) => count > before[at]! + 3));
      t.diagnostic(`${name}: ${writers.map(({ count }) => count).join(', ')} acknowledged writes`);
    }
    await Promise.all(writers.map((writer) => writer.stop()));
    for (const id of docs) {
      const answers = await Promise.all(
        nodes.map(({ client }) => client.get(`/db/${id}?revs=true&conflicts=true`, fresh)),
      );
      const { _revisions, _conflicts, n } = answers[0]!.body;
      const history = new Set(
        (_revisions.ids as string[]).map((hash, at) => `${_revisions.start - at}-${hash}`),
      );
      assert.equal(_conflicts, undefined);
      assert.equal(n, _revisions.start - 1);
      for (const { acknowledged } of writers)
        assert.deepEqual(
          acknowledged.get(id)!.filter((rev) => !history.has(rev)),
          [],
        );
      for (const { body } of answers) assert.deepEqual(body, answers[0]!.body);
    }
    await Promise.all(nodes.map((node) => node.end('SIGTERM')));
    const [first, ...others] = await Promise.all(nodes.map((node) => node.contents('db')));
    for (const other of others) assert.ok(isDeepStrictEqual(other, first));
  });
});
