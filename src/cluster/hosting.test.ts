import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { Logger } from '../base/logger.js';
import { SystemRuntime } from '../base/runtime.js';
import type { StreamReplica } from '../log/stream-replica.js';
import type { ClusterTargets } from '../node/cluster-link.js';
import type { StreamPlacement } from '../node/stream-placement.js';
import { BlobExchange } from './blob-exchange.js';
import { Hosting, type HostingParts } from './hosting.js';
import type { Members } from './members.js';

const stream = 1;
const logger = { warn() {}, notice() {} } as unknown as Logger;

/** A node `a` that hosts a stream, and others of which only what they tell is seen. */
class Scene {
  placement: StreamPlacement = { version: 1, hosts: ['a'], wanted: ['a'], leader: 'a' };
  known = ['a', 'b'];
  /** How far the node b has the stream. */
  position: number | undefined = 0;
  last = 0;
  isCutOff = false;
  erased = 0;
  readonly steps: unknown[] = [];
  readonly hosting: Hosting;

  constructor() {
    const replica = { whenCurrent: () => Promise.resolve(), stop: () => Promise.resolve() };
    const followed: HostingParts['followed'] = new Map();
    const follow = (): StreamReplica => {
      followed.set(stream, { replica } as never);
      this.hosting.followed(stream, replica as StreamReplica);
      return replica as StreamReplica;
    };
    const info = (): Promise<unknown> =>
      this.isCutOff ? Promise.reject(new Error('cut off')) : Promise.resolve({ first: 1, last: this.last });
    this.hosting = new Hosting({
      ...{ node: 'a', secret: '', followed, runtime: new SystemRuntime(), logger, follow },
      members: this.members,
      sources: { get: () => ({ info }) } as unknown as HostingParts['sources'],
      blobs: {} as HostingParts['blobs'],
      send: (command) => Promise.resolve(this.steps.push(command)),
      catalogueAt: () => Promise.resolve(),
      cataloguePosition: () => 0,
      isStale: () => false,
    });
    const erase = (): Promise<void> => Promise.resolve(void this.erased++);
    this.hosting.start({
      placements: () => new Map([[stream, this.placement]]),
      streamGroups: { release() {}, erase },
    } as unknown as ClusterTargets);
    follow();
    this.hosting.begin();
  }

  get members(): Members {
    return {
      names: () => ({ all: this.known, known: this.known }),
      others: () => [{ name: 'b', positions: { [stream]: this.position }, serves: [], url: 'http://b' }],
    } as unknown as Members;
  }

  /** Lets it look after the stream, as it does every second. */
  async rest(): Promise<void> {
    for (let looks = 0; looks < 7; looks++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      this.hosting.look();
    }
  }

  place(change: Partial<StreamPlacement>): void {
    this.placement = { ...this.placement, version: this.placement.version + 1, ...change };
    this.hosting.changed();
  }
}

describe('a node that is to host a stream no longer', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = new Scene();
    await Promise.resolve();
    assert.ok(scene.hosting.isHosted(stream));
  });

  test('erases it when the hosts have what requests have written until they ended', async () => {
    const end = scene.hosting.uses.begin(stream);
    scene.place({ hosts: ['b'], wanted: ['b'] });
    await scene.rest();
    scene.last = 1;
    end();
    await scene.rest();
    assert.equal(scene.erased, 0);
    scene.position = 1;
    await scene.rest();
    assert.equal(scene.erased, 1);
    await scene.hosting.stop();
  });

  test('keeps it where all hosts were removed', async () => {
    scene.known = ['a'];
    scene.place({ hosts: ['b'], wanted: ['b'] });
    await scene.rest();
    assert.equal(scene.erased, 0);
    await scene.hosting.stop();
  });

  test('serves it again where it is to host it again, whatever has failed meanwhile', async () => {
    scene.isCutOff = true;
    scene.place({ hosts: ['b'], wanted: ['b'] });
    await scene.rest();
    assert.ok(!scene.hosting.isHosted(stream));
    scene.isCutOff = false;
    scene.place({ hosts: ['b'], wanted: ['a', 'b'] });
    // After a failure it waits for 3 s.
    for (let tries = 0; tries < 6 && scene.steps.length === 0; tries++) await scene.rest();
    scene.place({ hosts: ['a', 'b'] });
    assert.ok(scene.hosting.isHosted(stream));
    assert.equal(scene.erased, 0);
    await scene.hosting.stop();
  });

  test('does not count as one of those that have an attachment', async () => {
    const runtime = Object.assign(new SystemRuntime(), { sleep: () => Promise.resolve() });
    const options = { node: 'a', secret: '' };
    const none = { others: () => [] } as unknown as Members;
    const spread = (hosts: string[]): Promise<void> =>
      new BlobExchange(none, options, logger, runtime, () => hosts).spread(['00'], stream);
    await spread(['a']);
    await assert.rejects(spread(['b']), /Too few nodes/);
    await scene.hosting.stop();
  });
});
