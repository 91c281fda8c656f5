import fs from 'node:fs';
import path from 'node:path';
import type { Bytes } from '../base/bytes.js';
import { StartupError } from '../base/startup-error.js';
import { decodePlace, encodeHead, encodePlace, type StreamPlace } from '../log/stream-place.js';
import { wholePlace, type WholePlace } from '../log/stream-end.js';
import { DatabaseKeys } from '../shard/keys.js';
import { placeKey } from '../shard/volume.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import type { Entry, Store } from '../storage/store.js';
import { Catalogue, groupsOf } from './catalogue.js';
import { copyStores, groupEntries } from './copy-stores.js';
import { whatIsSaved } from './what-is-saved.js';

/** Keys that are removed at a time. */
const keysMax = 1_000;

/** The stores of a node that no server has open: the catalogue, and a folder for each volume. */
export class StoresAtRest {
  private constructor(
    readonly catalogue: Catalogue,
    /** By slot. */
    private readonly volumes: readonly Store[],
  ) {}

  /** `documents` has a folder for each volume, whose name begins with the number of its slot. */
  static open(folder: string): StoresAtRest {
    const catalogue = new Catalogue(new LmdbStore(path.join(folder, 'catalogue')), () => {});
    const volumes = catalogue.generations().map((generation, slot) => {
      const names = [`${slot}.${generation}`, String(slot)].map((name) =>
        path.join(folder, 'documents', name),
      );
      return new LmdbStore(names.find((name) => fs.existsSync(name)) ?? names[0]!);
    });
    return new StoresAtRest(catalogue, volumes);
  }

  /** Copies the stores to another folder. */
  async copyTo(folder: string): Promise<void> {
    for (const [slot, volume] of this.volumes.entries())
      await volume.copyTo(newFolder(path.join(folder, 'documents', String(slot))));
    await this.catalogue.copyTo(newFolder(path.join(folder, 'catalogue')));
  }

  /** For another node; each store is copied into the folder first. A copy that is not complete when they are closed is broken off. */
  copy(folder: string): AsyncIterable<Buffer> {
    return copyStores(
      this.catalogue,
      this.volumes.map((store, slot) => ({ slot, store })),
      folder,
    );
  }

  /** Up to where they have a stream. */
  place(stream: number | 'catalogue'): WholePlace | undefined {
    if (stream === 'catalogue') {
      const { place } = this.catalogue.steps;
      return wholePlace({ place: () => place, reach: () => place });
    }
    const places = this.#places(stream).sort((one, other) => one.head.seq - other.head.seq);
    return wholePlace({ place: () => places[0], reach: () => places.at(-1) });
  }

  /** Replaces the groups of a stream by those of other stores. Interrupted, it has to be done again from the beginning. */
  async takeStream(stream: number, from: StoresAtRest): Promise<void> {
    const [own, theirs] = [this.#groups(stream), from.#groups(stream)];
    const isAhead = from.catalogue.log.position > this.catalogue.log.position;
    // They come with the catalogue, which would make them anew, and empty.
    if (isAhead && [...theirs.keys()].some((group) => !own.has(group)))
      throw new StartupError(
        'Another node has databases that this one does not know yet. It is tried again.',
      );
    // Where the catalogues differ, the same number may be that of another database.
    const sourceOf = (group: number): number | undefined => {
      const home = theirs.get(group);
      return home?.uuid === own.get(group)!.uuid ? home?.slot : undefined;
    };
    for (const [slot, volume] of this.volumes.entries()) {
      const groups = [...own].filter(([, home]) => home.slot === slot).map(([group]) => group);
      for (const group of groups) await replaceGroup(volume, group, from.volumes[sourceOf(group) ?? -1]);
      const sources = new Set(groups.flatMap((group) => sourceOf(group) ?? []));
      await volume.write([{ key: placeKey(stream), value: from.#placeOf(stream, sources) }]).flushed;
    }
  }

  /** The place that all volumes with groups of a stream have; undefined where none has begun. */
  placeBytes(stream: number): Bytes | undefined {
    return this.#placeOf(stream, new Set([...this.#groups(stream).values()].map(({ slot }) => slot)));
  }

  /** The groups of a stream, each with its keys and their values, in parts. */
  *contents(stream: number): Iterable<[group: number, parts: Iterable<Entry[]>]> {
    for (const [group, { slot }] of this.#groups(stream))
      yield [group, groupEntries(this.volumes[slot]!, group)];
  }

  whatIsSaved(): string | undefined {
    return whatIsSaved(this.catalogue, this.volumes);
  }

  async close(): Promise<void> {
    for (const volume of this.volumes) await volume.close();
    await this.catalogue.close();
  }

  #places(stream: number): StreamPlace[] {
    return this.volumes.flatMap((volume) => {
      const bytes = volume.get(placeKey(stream));
      return bytes === undefined ? [] : [decodePlace(bytes)];
    });
  }

  /** The place of a volume that gets what these ones have. The earliest place where that is nothing. */
  #placeOf(stream: number, slots: ReadonlySet<number>): Bytes | undefined {
    const places = new Set([...slots].map((slot) => this.volumes[slot]!.get(placeKey(stream))));
    if (places.size > 1)
      throw new StartupError(
        'The volumes of another node are at different places of a stream. It is tried again.',
      );
    if (places.size === 1) return [...places][0];
    const earliest = this.#places(stream).sort((one, other) => one.head.seq - other.head.seq)[0];
    return earliest && encodePlace(encodeHead(earliest.head), 0, 0);
  }

  /** The groups of a stream, with their slots and what tells their databases from others. */
  #groups(stream: number): Map<number, { slot: number; uuid: string | undefined }> {
    const all = this.catalogue
      .databases()
      .flatMap(([, record]) =>
        groupsOf(record).map(({ group, slot }) => ({ group, slot, uuid: record.uuid })),
      );
    const groups = all.filter(({ group }) => (this.catalogue.home(group)?.stream ?? 0) === stream);
    return new Map(groups.map(({ group, slot, uuid }) => [group, { slot, uuid }]));
  }
}

/** Makes the keys of a group those of another store; none, where there is no other. */
async function replaceGroup(volume: Store, group: number, source: Store | undefined): Promise<void> {
  const { start, end } = new DatabaseKeys(group).range;
  for (;;) {
    const keys = [...volume.keys({ start, end, limit: keysMax })];
    if (keys.length === 0) break;
    await volume.write(keys.map((key) => ({ key, value: undefined }))).flushed;
  }
  if (source === undefined) return;
  for (const entries of groupEntries(source, group)) await volume.write(entries).flushed;
}

function newFolder(folder: string): string {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}
