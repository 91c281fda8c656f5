import fs from 'node:fs';
import path from 'node:path';
import type { Bytes } from '../base/bytes.js';
import { Unavailable } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { smallBlob, toHex } from '../shard/blob-record.js';
import { DatabaseKeys } from '../shard/keys.js';
import { placeKey, type Volume } from '../shard/volume.js';
import type { Entry } from '../storage/store.js';
import { groupsOf, type Catalogue } from './catalogue.js';
import { copyPrefix, copyStores } from './copy-stores.js';
import { StoresAtRest } from './stores-at-rest.js';
import type { Volumes } from './volumes.js';

/** Keys of a group that are erased in one commit: few, so that writers hardly notice. */
const eraseKeysMax = 2_000;

/** What this needs of the node. */
export interface StreamGroupsHost {
  readonly isClosing: boolean;
  readonly logger: Logger;
  readonly views: { drop(instance: number): Promise<void> };
  /** Lets go of an open database; its feeds end, and continue at another node. */
  release(name: string): void;
  /** Removes files that nothing names any more. */
  sweep(): Promise<unknown>;
  /** Gives back the disk space that a volume no longer needs. */
  reclaim(slot: number): Promise<void>;
}

/** The groups of single streams of a cluster: they come to this node, and leave it, while it serves those of others. */
export class StreamGroups {
  constructor(
    private readonly host: StreamGroupsHost,
    private readonly catalogue: Pick<Catalogue, 'databases' | 'home' | 'copyTo'>,
    private readonly volumes: Pick<Volumes, 'get' | 'all'>,
    /** The data folder. */
    private readonly folder: string | undefined,
  ) {}

  /** The groups of a stream, for another node; each store is copied into the folder first. */
  copy(stream: number, folder: string): AsyncIterable<Buffer> {
    const groups = (): number[] => this.#groups(stream).map(({ group }) => group);
    const part = { groups, place: placeKey(stream) };
    return copyStores(this.catalogue, this.volumes.all(), folder, part);
  }

  /** Uses a folder for stores of another node. */
  async withFolder(use: (folder: string) => Promise<void>): Promise<void> {
    if (this.folder === undefined) throw new Unavailable('A node that keeps its data in memory cannot copy.');
    const folder = fs.mkdtempSync(path.join(this.folder, copyPrefix));
    try {
      await use(folder);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  }

  /** The databases of a stream are not to be used here any more: ends feeds. */
  release(stream: number): void {
    for (const [name, record] of this.catalogue.databases())
      if ((record.stream ?? 0) === stream) this.host.release(name);
  }

  /** Whether this node has begun with a stream, and what it has of it is no rest of an interrupted copy or erasure. */
  isWhole(stream: number): boolean {
    if (this.volumes.all().every((volume) => volume.steps(stream).place === undefined)) return false;
    return this.#groups(stream).every(({ group, slot }) => {
      const volume = this.volumes.get(slot);
      return volume.steps(stream).place !== undefined || isEmpty(volume, new DatabaseKeys(group));
    });
  }

  /** Removes all that this node has of a stream. Interrupted, it has to be done again. */
  async erase(stream: number): Promise<void> {
    // The places go first: with one, what is left after an interruption would be taken for everything up to there.
    for (const volume of this.volumes.all()) await volume.steps(stream).move(undefined);
    const slots = new Set<number>();
    for (const { group, slot } of this.#groups(stream)) {
      const keys = new DatabaseKeys(group);
      const volume = this.volumes.get(slot);
      if (isEmpty(volume, keys)) continue;
      slots.add(slot);
      while (await volume.erase(keys, eraseKeysMax)) this.#checkOpen();
      await this.host.views.drop(group);
    }
    if (slots.size > 0) await this.host.sweep();
    for (const slot of slots)
      await this.host.reclaim(slot).catch((error: unknown) => {
        this.host.logger.warn({ err: error, slot }, 'disk space of a volume could not be given back');
      });
  }

  /**
   * Takes over the groups of a stream from a folder with stores of another node, where this one has none. `check` throws where
   * they are of no use. Databases count from when `place` is written, which `bring` comes before: it is given the attachments.
   */
  async take(stream: number, folder: string, hooks: TakeHooks): Promise<void> {
    const from = StoresAtRest.open(folder);
    try {
      await hooks.check(from);
      const place = from.placeBytes(stream);
      // What the other node knows of databases is known here before their groups are looked for.
      await hooks.catalogueAt(from.catalogue.log.position);
      for (const [group, parts] of from.contents(stream)) await this.#fill(group, parts, hooks);
      for (const volume of this.volumes.all()) await volume.steps(stream).move(place);
    } finally {
      await from.close();
    }
  }

  async #fill(group: number, parts: Iterable<Entry[]>, hooks: TakeHooks): Promise<void> {
    const { start, end } = new DatabaseKeys(group).blobsRange;
    for (const writes of parts) {
      this.#checkOpen();
      const home = this.catalogue.home(group);
      // It was deleted meanwhile.
      if (home === undefined) return;
      const { journal } = this.volumes.get(home.slot);
      await journal.record({ type: 'fill', instance: group, writes });
      const blobs = writes.filter(({ key, value }) => key >= start && key < end && smallBlob(value) === '');
      await hooks.bring(blobs.map(({ key }) => toHex(key.slice(start.length) as Bytes)));
      // Its keys may have come behind their erasure.
      if (this.catalogue.home(group) === undefined)
        while (await this.volumes.get(home.slot).erase(new DatabaseKeys(group), eraseKeysMax));
    }
  }

  #checkOpen(): void {
    if (this.host.isClosing) throw new Error('the server is closing');
  }

  #groups(stream: number): { group: number; slot: number }[] {
    const records = this.catalogue.databases().filter(([, record]) => (record.stream ?? 0) === stream);
    return records.flatMap(([, record]) => groupsOf(record).map(({ group, slot }) => ({ group, slot })));
  }
}

const isEmpty = ({ store }: Volume, { range }: DatabaseKeys): boolean =>
  [...store.keys({ ...range, limit: 1 })].length === 0;

export interface TakeHooks {
  check(stores: Pick<StoresAtRest, 'place'>): Promise<void>;
  /** Resolves when this node has applied the catalogue up to there. */
  catalogueAt(position: number): Promise<void>;
  /** Resolves when this node has these attachments, or no node has. */
  bring(digests: readonly string[]): Promise<void>;
}
