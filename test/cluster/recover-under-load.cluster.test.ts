import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { command } from './cluster-command.js';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const fresh = { 'x-tuffet-reads': 'fresh' };

/** Writes documents to a node one after the other, and keeps count of what was answered. */
class Writer {
  readonly saved = new Set<string>();
  readonly notSaved = new Set<string>();
  #isEnding = false;
  readonly #done: Promise<void>;

  constructor(
    private readonly node: TestNode,
    private readonly prefix: string,
  ) {
    this.#done = this.#run();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#done;
  }

  async #run(): Promise<void> {
    for (let n = 0; !this.#isEnding; n++) {
      const id = `${this.prefix}${n}`;
      // Some have attachments that are not in the stream.
      const large = { data: { data: randomBytes(40_000).toString('base64') } };
      const doc = n % 10 === 0 ? { _attachments: large } : { n };
      const { status, text } = await this.node.client.put(`/db/${id}`, doc).catch((error: Error) => ({
        status: 0,
        text: error.message,
      }));
      if (status === 201) this.saved.add(id);
      else if (text.includes('was not saved')) this.notSaved.add(id);
      if (status !== 201) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

describe(
  'a stream that one node has another history of, while two nodes write to it',
  skipWithoutNats,
  () => {
    let nats: TestNats;
    let nodes: TestNode[] = [];
    const settings = { streams: '2', write_timeout_ms: '5000' };
    const saved = new Set<string>();
    const notSaved = new Set<string>();

    before(async () => {
      nats = await TestNats.start();
      nodes = await Promise.all(
        ['a', 'b', 'c'].map((name) => TestNode.start({ nats: nats.url, name, settings })),
      );
      assert.equal((await nodes[0]!.client.put('/db')).status, 201);
      await Promise.all(nodes.map(({ client }) => client.get('/db', fresh)));
    });
    after(async () => {
      await Promise.all(nodes.map((node) => node.close()));
      await nats.close();
    });

    const write = async (node: TestNode, prefix: string, docs: number): Promise<void> => {
      for (let n = 0; n < docs; n++) {
        const { status, text } = await node.client.put(`/db/${prefix}${n}`, { by: node.name });
        assert.equal(status, 201, text);
        saved.add(`${prefix}${n}`);
      }
    };

    /** Lets a node apply other messages than the others at the same places of the streams of documents. */
    const diverge = async (node: TestNode, round: string): Promise<void> => {
      const catalogue = path.join(node.folder, 'catalogue');
      const [keptCatalogue, keptStreams] = [`${node.folder}-catalogue`, `${nats.folder}-other`];
      await Promise.all(nodes.map((each) => each.end('SIGTERM')));
      await nats.kill('SIGTERM');
      fs.cpSync(nats.folder, keptStreams, { recursive: true });
      fs.cpSync(catalogue, keptCatalogue, { recursive: true });
      const other = await TestNats.start({ folder: keptStreams, port: nats.port });
      try {
        await node.run();
        for (let n = 0; n < 5; n++)
          assert.equal((await node.client.put(`/db/diverged-${round}-${n}`, {})).status, 201);
        await node.end('SIGTERM');
      } finally {
        await other.close();
      }
      fs.rmSync(catalogue, { recursive: true });
      fs.renameSync(keptCatalogue, catalogue);
      await nats.run();
      await Promise.all(nodes.filter((each) => each !== node).map((each) => each.run()));
    };

    const untilDamaged = async ({ client }: TestNode): Promise<void> => {
      await until(async () => (await client.get('/_up')).text.includes('another history'), 30_000);
    };

    const checkWhole = async (): Promise<void> => {
      for (const [at, node] of nodes.entries()) await write(node, `after-${saved.size}-${at}-`, 2);
      for (const { client } of nodes) {
        const { status, body, text } = await client.get('/db/_all_docs', fresh);
        assert.equal(status, 200, text);
        const ids = new Set((body.rows as { id: string }[]).map(({ id }) => id));
        for (const id of saved) assert.ok(ids.has(id), `${id} was acknowledged`);
        for (const id of notSaved) assert.ok(!ids.has(id), `${id} was refused`);
        assert.deepEqual(
          [...ids].filter((id) => id.startsWith('diverged')),
          [],
        );
        assert.equal((await client.get('/_up')).status, 200);
      }
    };

    for (const asked of [2, 0])
      test(`is recovered by ${asked === 2 ? 'the node that is damaged' : 'one that writes'}`, async (t) => {
        const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
        await diverge(c, String(asked));
        await write(a, `a${asked}-before-`, 10);
        await write(b, `b${asked}-before-`, 10);
        const writers = [new Writer(a, `a${asked}-`), new Writer(b, `b${asked}-`)];
        try {
          await c.run();
          await untilDamaged(c);
          const begun = Date.now();
          const { code, output } = await command(nodes[asked]!, 'recover', '--yes');
          t.diagnostic(`recovered within ${Date.now() - begun} ms`);
          assert.equal(code, 0, output);
          await new Promise((resolve) => setTimeout(resolve, 500));
        } finally {
          await Promise.all(writers.map((writer) => writer.end()));
        }
        for (const writer of writers) {
          t.diagnostic(`${writer.saved.size} documents were acknowledged, ${writer.notSaved.size} refused`);
          for (const id of writer.saved) saved.add(id);
          for (const id of writer.notSaved) notSaved.add(id);
        }
        await checkWhole();
      });

    test('is recovered although the node that is copied pauses; the one that copies answers for itself', async (t) => {
      const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
      await diverge(c, 'paused');
      await write(a, 'a-paused-', 10);
      await write(b, 'b-paused-', 10);
      const begun = a.log.length;
      await c.run();
      await untilDamaged(c);
      const recovered = command(c, 'recover', '--from', a.name, '--yes');
      // It opens its stores before it sends a copy of them.
      await until(
        () => a.log.slice(begun).includes('a stream was made anew from what this node has'),
        30_000,
      );
      a.process.kill('SIGSTOP');
      try {
        await until(async () => (await c.client.get('/_up')).text.includes('opening its stores'));
        // Longer than other requests wait for stores that are opened again.
        for (const end = Date.now() + 12_000; Date.now() < end;) {
          const up = await c.client.get('/_up');
          assert.deepEqual([up.status, up.body.status], [404, 'cluster'], up.text);
          const report = await c.client.get('/_cluster/recover');
          assert.equal(report.status, 200, report.text);
          assert.ok(report.body.copying.includes(c.name), report.text);
          assert.equal((await c.client.get('/_cluster')).status, 200);
          assert.equal((await c.client.anonymous.get('/_cluster')).status, 401);
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
      } finally {
        a.process.kill('SIGCONT');
      }
      const { code, output } = await recovered;
      assert.equal(code, 0, output);
      t.diagnostic(output);
      await checkWhole();
    });

    test('has the same bytes on all nodes in the end', async () => {
      await Promise.all(nodes.map(({ client }) => client.get('/db', fresh)));
      await Promise.all(nodes.map((node) => node.end('SIGTERM')));
      const [first, ...others] = await Promise.all(nodes.map((node) => node.contents('db')));
      assert.ok(first!.documents.length > saved.size);
      for (const other of others) assert.ok(isDeepStrictEqual(other, first));
    });
  },
);
