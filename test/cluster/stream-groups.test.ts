import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { asBytes, type Bytes } from '../../src/base/bytes.js';
import { encodeHead, encodePlace, firstHead } from '../../src/log/stream-place.js';
import type { DatabaseRecord } from '../../src/node/catalogue.js';
import { StreamGroups } from '../../src/node/stream-groups.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import { placeKey, Volume } from '../../src/shard/volume.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { temporaryFolder } from '../support/server.js';
import { quietLogger } from './replicated-scenes.js';

const stream = 1;
const place = encodePlace(encodeHead(firstHead('epoch')), 0, 0);
const keyOf = (group: number): Bytes => asBytes(`${new DatabaseKeys(group).range.start}x`);

/** A node with two volumes, which have groups of one stream. */
class Scene {
  readonly folder = temporaryFolder();
  readonly stores = [0, 1].map((slot) => new LmdbStore(path.join(this.folder, String(slot))));
  readonly #catalogue = new LmdbStore(path.join(this.folder, 'catalogue'));
  readonly #volumes = this.stores.map((store, slot) => new Volume(slot, store, () => {}));
  /** The volume of each group. */
  readonly slots = new Map<number, number>();
  isClosing = false;
  readonly groups: StreamGroups;

  constructor() {
    const databases = (): [string, DatabaseRecord][] =>
      [...this.slots].map(([instance, slot]) => [`db${instance}`, { instance, slot, q: 1, stream }]);
    const host = {
      isClosing: false,
      logger: quietLogger,
      // Where erasing is interrupted.
      views: { drop: () => (this.isClosing ? Promise.reject(new Error('killed')) : Promise.resolve()) },
      release: () => {},
      sweep: () => Promise.resolve(),
      reclaim: () => Promise.resolve(),
    };
    const copyTo = (folder: string): Promise<void> => this.#catalogue.copyTo(folder);
    const volumes = { get: (slot: number) => this.#volumes[slot]!, all: () => this.#volumes };
    this.groups = new StreamGroups(host, { databases, home: () => undefined, copyTo }, volumes, this.folder);
  }

  async add(group: number, slot: number): Promise<void> {
    this.slots.set(group, slot);
    await this.stores[slot]!.write([
      { key: placeKey(stream), value: place },
      { key: keyOf(group), value: asBytes('x') },
    ]).flushed;
    this.#volumes[slot]!.steps(stream).reload();
  }

  async close(): Promise<void> {
    for (const volume of this.#volumes) await volume.close();
    await this.#catalogue.close();
  }
}

test('what is left of a stream by an erasure that was interrupted is not taken for all of it', async () => {
  const scene = new Scene();
  await scene.add(1, 0);
  await scene.add(2, 0);
  await scene.add(3, 1);
  assert.ok(scene.groups.isWhole(stream));
  scene.isClosing = true;
  await assert.rejects(scene.groups.erase(stream));
  assert.equal(scene.stores[0]!.get(keyOf(1)), undefined);
  assert.notEqual(scene.stores[0]!.get(keyOf(2)), undefined);
  for (const store of scene.stores) assert.equal(store.get(placeKey(stream)), undefined);
  assert.ok(!scene.groups.isWhole(stream));
  scene.isClosing = false;
  await scene.groups.erase(stream);
  assert.equal(scene.stores[0]!.get(keyOf(2)), undefined);
  assert.equal(scene.stores[1]!.get(keyOf(3)), undefined);
  await scene.close();
});

test('a volume with groups of a stream and no place in it has not all of them', async () => {
  const scene = new Scene();
  await scene.add(1, 0);
  scene.slots.set(2, 1);
  assert.ok(scene.groups.isWhole(stream));
  await scene.stores[1]!.write([{ key: keyOf(2), value: asBytes('x') }]).flushed;
  assert.ok(!scene.groups.isWhole(stream));
  await scene.close();
});

test('a copy of a stream has the groups that are made while it begins', async () => {
  const scene = new Scene();
  await scene.add(1, 0);
  const copy = scene.groups.copy(stream, scene.folder);
  await scene.add(2, 0);
  const parts: Buffer[] = [];
  for await (const part of copy) parts.push(part);
  const received = firstStore(Buffer.concat(parts));
  for (const group of [1, 2]) assert.notEqual(received.get(keyOf(group)), undefined, `group ${group}`);
  await received.close();
  await scene.close();
});

/** The first of the stores that a node sends. */
function firstStore(sent: Buffer): LmdbStore {
  const end = sent.indexOf('\n');
  const { bytes } = JSON.parse(sent.toString('utf8', 0, end)) as { bytes: number };
  const folder = temporaryFolder();
  fs.writeFileSync(path.join(folder, 'data.mdb'), sent.subarray(end + 1, end + 1 + bytes));
  return new LmdbStore(folder);
}
