import type { Runtime } from '../base/runtime.js';
import type { Config } from '../config/config.js';
import fs from 'node:fs';
import path from 'node:path';
import type { CommandRoute } from '../shard/group-log.js';
import { versionWrite } from '../shard/upgrade-volume.js';
import { stampWrite, type VolumeStamp } from '../shard/volume-stamp.js';
import { Volume } from '../shard/volume.js';
import type { Touched } from '../shard/write-view.js';
import { CachedStore } from '../storage/cached-store.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import type { OtherReaders } from '../storage/other-readers.js';
import { isWorthCopying } from '../storage/reclaiming.js';
import type { Store } from '../storage/store.js';
import { syncFolder } from '../storage/sync-folder.js';
import type { Catalogue } from './catalogue.js';

/** What those who look after such processes need. */
export type SharedVolumes = Pick<Volumes, 'folderOf' | 'forgetReaders'>;

/** How often others are asked to let go of a volume before that is seen to. */
const releasesMax = 4;

/** Bytes of records that all volumes remember together; those of a file from which on nothing new goes into a volume. */
interface VolumeLimits {
  cacheBytes: number;
  volumeBytes: () => number;
}

export const volumeLimits = (config: Config): VolumeLimits => ({
  cacheBytes: config.number('tuffet/record_cache_bytes'),
  volumeBytes: () => config.number('tuffet/volume_bytes'),
});

/**
 * The volumes that hold documents: few stores of bounded size, each with the shards of many databases. A store of this
 * kind never shrinks by itself; so one that is mostly free is copied into a fresh folder, which then takes its place,
 * and the old folder is removed. The catalogue says which folder counts; what is left of a copy that was broken off is
 * removed at the next start (`check-stores.ts`).
 */
export class Volumes {
  readonly #volumes: (Volume | undefined)[] = [];
  #openCount = 0;
  readonly #reclaiming = new Map<number, Promise<boolean>>();
  #beginning: Promise<void> | undefined;
  #otherReaders: OtherReaders | undefined;

  constructor(
    /** Undefined for an in-memory server. */
    private readonly folder: string | undefined,
    private readonly catalogue: Catalogue,
    private readonly onCommit: (touched: readonly Touched[]) => void,
    private readonly limits: VolumeLimits,
    /** Called with the folder of a volume that is removed or opened again: others let go of it. */
    private readonly onReplaced: (folder: string) => Promise<void>,
    /** Called where a volume has to be opened again, and others went on using it. */
    private readonly onStuck: () => Promise<void>,
    /** Called when a volume is copied, with the folders that the copy stands in and its size; gives what to call at the end. */
    private readonly onCopying: (slot: number, folders: string[], bytes: number) => () => void,
    private readonly encodedCommands: boolean,
    private readonly runtime: Runtime,
    /** Makes the stores of volumes where there is no folder. */
    private readonly openStore: (name: string) => Store,
    /** Where commands of groups go. */
    private readonly route: CommandRoute,
  ) {}

  get(slot: number): Volume {
    const open = this.#volumes[slot];
    if (open !== undefined) return open;
    const volume = (this.#volumes[slot] = new Volume(
      slot,
      this.#open(slot),
      this.onCommit,
      this.encodedCommands,
      this.runtime,
      this.route,
    ));
    this.#openCount++;
    return volume;
  }

  /** Every volume there is, opened if need be. */
  all(): Volume[] {
    return this.catalogue.generations().map((_, slot) => this.get(slot));
  }

  /** Sees to it that the newest volume, which new databases go into, has room. */
  async prepareForNew(): Promise<void> {
    const newest = this.catalogue.generations().length - 1;
    if (newest >= 0 && this.get(newest).store.size().file_bytes < this.limits.volumeBytes()) return;
    await this.#beginNext();
  }

  /** A volume that has room for a group of so many bytes, beside what is promised to others: the newest, or a new one. */
  async slotFor(bytes: number, promised: ReadonlyMap<number, number>): Promise<number> {
    const newest = this.catalogue.generations().length - 1;
    const taken = this.get(newest).store.size().used_bytes + (promised.get(newest) ?? 0);
    if (taken + bytes <= this.limits.volumeBytes()) return newest;
    await this.#beginNext();
    return this.catalogue.generations().length - 1;
  }

  async #beginNext(): Promise<void> {
    const next = this.catalogue.generations().length;
    this.#beginning ??= this.#begin(next).finally(() => (this.#beginning = undefined));
    await this.#beginning;
  }

  /** Gives disk space back where that share of a file is free, in percent. Of several who ask for the same, one does it. */
  reclaim(slot: number, percent: number): Promise<boolean> {
    const underWay = this.#reclaiming.get(slot);
    if (underWay !== undefined) return underWay;
    const work = this.#reclaim(slot, percent).finally(() => this.#reclaiming.delete(slot));
    this.#reclaiming.set(slot, work);
    return work;
  }

  /** The current folder of a volume; undefined for one in memory. */
  folderOf(slot: number): string | undefined {
    return this.folder === undefined ? undefined : this.#folderOf(slot, this.catalogue.generations()[slot]!);
  }

  async #reclaim(slot: number, percent: number): Promise<boolean> {
    const { folder } = this;
    const volume = this.get(slot);
    const before = volume.store.size();
    if (folder === undefined || !isWorthCopying(before, percent)) return false;
    const old = this.#folderOf(slot, this.catalogue.generations()[slot]!);
    const generation = nextGeneration(folder, slot, this.catalogue.generations()[slot]!);
    const fresh = this.#folderOf(slot, generation);
    const copy = `${fresh}.copy`;
    const endTask = this.onCopying(slot, [copy, fresh], before.used_bytes);
    const replaced = volume.replaceStore(
      async (store) => {
        await fs.promises.rm(copy, { recursive: true, force: true });
        await fs.promises.mkdir(copy, { recursive: true });
        await store.copyTo(copy);
        await fs.promises.rename(copy, fresh);
        await syncFolder(fresh);
        return this.#cached(fresh);
      },
      async () => {
        await this.catalogue.journal.record({ type: 'set_generation', slot, generation });
        this.#otherReaders?.moved();
      },
    );
    await replaced.finally(endTask).catch(async (error: unknown) => {
      // A full disk is the likeliest reason: what was copied must not go on taking room.
      if (this.catalogue.generations()[slot] !== generation)
        for (const folder of [copy, fresh]) await fs.promises.rm(folder, { recursive: true, force: true });
      throw error;
    });
    // Should this fail, the next start does it.
    const stamp = this.#stampOf(slot, generation);
    if (stamp !== undefined) await volume.journal.record({ type: 'stamp', stamp }).catch(() => undefined);
    await this.#release(old, fresh);
    await fs.promises.rm(old, { recursive: true, force: true });
    return true;
  }

  /** Shares the volumes with other processes. */
  share(readers: OtherReaders): SharedVolumes {
    this.#otherReaders = readers;
    return this;
  }

  /** Gives up what processes hold that have ended in the middle of reading. */
  forgetReaders(): void {
    for (const volume of this.#volumes) volume?.store.forgetReaders?.();
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#reclaiming.values());
    for (const volume of this.#volumes) await volume?.close();
  }

  async #release(folder: string, next?: string): Promise<void> {
    await Promise.all([this.onReplaced(folder), this.#otherReaders?.release(folder, next)]);
  }

  /** Resolves when no other process reads a group any more, whose records are to be removed. */
  async endReads(group: number): Promise<void> {
    await this.#otherReaders?.ended(group);
  }

  /** The volume is there before the catalogue names it: one that is named and not there has been lost. */
  async #begin(slot: number): Promise<void> {
    if (this.folder !== undefined) {
      const store = new LmdbStore(this.#folderOf(slot, 1));
      const stamp = this.#stampOf(slot, 1);
      const writes = stamp === undefined ? [versionWrite] : [versionWrite, stampWrite(stamp)];
      await store.write(writes).flushed.finally(() => store.close());
    }
    await this.catalogue.journal.record({ type: 'set_generation', slot, generation: 1 });
  }

  #stampOf(slot: number, generation: number): VolumeStamp | undefined {
    const { id } = this.catalogue;
    return id === undefined ? undefined : { catalogue: id, slot, generation };
  }

  #open(slot: number): Store {
    if (this.folder === undefined) return this.openStore(`documents/${slot}`);
    return this.#cached(this.#folderOf(slot, this.catalogue.generations()[slot]!));
  }

  #cached(folder: string): Store {
    const store = new LmdbStore(folder, {
      release: (attempt) => (attempt > releasesMax ? this.onStuck() : this.#release(folder)),
      reopened: () => Promise.resolve(this.#otherReaders?.reopened(folder)),
    });
    return new CachedStore(store, () => this.limits.cacheBytes / Math.max(1, this.#openCount));
  }

  #folderOf(slot: number, generation: number): string {
    return path.join(this.folder!, `${slot}.${generation}`);
  }
}

/** One that no folder has: what a crash has left under the next number may be more than a copy. */
function nextGeneration(folder: string, slot: number, current: number): number {
  let generation = current + 1;
  while (fs.existsSync(path.join(folder, `${slot}.${generation}`))) generation++;
  return generation;
}
