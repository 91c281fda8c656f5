import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { Random, seed } from '../model/random.js';
import { FlakyProxy } from '../replication/front.js';
import { contentsOf } from '../replication/scene.js';
import { HttpClient } from '../support/http-client.js';
import { ServerProcess } from './server-process.js';

const kills = 20;
const documents = 400;

/** A server that is killed and started again, under an address that stays. */
class Side {
  private constructor(
    readonly server: ServerProcess,
    readonly way: FlakyProxy,
  ) {}

  static async start(t: Parameters<typeof ServerProcess.start>[0]): Promise<Side> {
    const server = await ServerProcess.start(t);
    const way = await FlakyProxy.start(() => Number(new URL(server.url).port), 0, Infinity);
    const side = new Side(server, way);
    const config = { tuffet: { replication_backoff_ms: '200' }, replicator: { checkpoint_interval: '500' } };
    for (const [section, options] of Object.entries(config))
      for (const [key, value] of Object.entries(options))
        await side.client.put(`/_node/_local/_config/${section}/${key}`, value);
    await side.client.put('/db');
    if ((await side.client.get('/_replicator')).status === 404) await side.client.put('/_replicator');
    return side;
  }

  get client(): HttpClient {
    return new HttpClient(this.server.url);
  }

  get address(): string {
    return `http://admin:secret@127.0.0.1:${this.way.port}/db`;
  }

  /** A random edit; the server may be down. */
  async edit(random: Random): Promise<void> {
    const path = `/db/doc${random.below(documents)}`;
    try {
      const { body } = await this.client.get(path);
      const known = body?._rev === undefined ? {} : { _rev: body._rev as string };
      if (known._rev !== undefined && random.oneIn(8))
        return void (await this.client.delete(`${path}?rev=${known._rev}`));
      const data = Buffer.from(random.bytes(random.below(3_000)), 'latin1').toString('base64');
      const files = random.oneIn(10) ? { _attachments: { f: { content_type: 'text/plain', data } } } : {};
      await this.client.put(path, { ...known, v: random.below(1_000), ...files });
    } catch {
      // It is just being killed.
    }
  }
}

test(
  `two servers that replicate with each other, and are killed again and again, end with the same trees (seed ${seed})`,
  { timeout: 600_000 },
  async (t) => {
    const random = new Random(seed);
    const sides = [await Side.start(t), await Side.start(t)] as const;
    const [left, right] = sides;
    // One pushes and pulls, the other pulls: all ways of going.
    const jobs = [
      [left, 'push', left.address, right.address],
      [left, 'pull', right.address, left.address],
      [right, 'pull', left.address, right.address],
    ] as const;
    for (const [side, id, source, target] of jobs) {
      const answer = await side.client.put(`/_replicator/${id}`, { source, target, continuous: true });
      assert.equal(answer.status, 201, answer.text);
    }
    for (let kill = 0; kill < kills; kill++) {
      const until = Date.now() + 200 + random.below(1_500);
      while (Date.now() < until) await Promise.all(sides.map((side) => side.edit(random)));
      const side = random.pick(sides);
      await side.server.stop('SIGKILL');
      await sleep(random.below(400));
      await side.server.start();
    }
    const deadline = Date.now() + 180_000;
    for (;;) {
      const [a, b] = await Promise.all(sides.map((side) => contentsOf(side.client, '/db')));
      const same = JSON.stringify([...a!]) === JSON.stringify([...b!]);
      if (same) {
        t.diagnostic(`${a!.size} documents, ${[...a!.values()].flat().length} leaves`);
        assert.ok(a!.size > documents / 2);
        return;
      }
      if (Date.now() > deadline) assert.deepEqual(a, b);
      await sleep(500);
    }
  },
);
