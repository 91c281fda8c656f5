import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';
import type { DatabaseSettings } from '../node/catalogue-commands.js';
import { Catalogue, groupsOf, type DatabaseRecord } from '../node/catalogue.js';
import { needsUpgrade } from '../shard/upgrade-volume.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import type { StoreSnapshot } from '../storage/store.js';
import type { DatabaseSource } from './offline-folder.js';

const attemptsMax = 5;

/**
 * Reads one database of a data folder that a server may be using, each of its groups as it is at one moment. A group that is
 * moved to another volume meanwhile, or a volume that is replaced, is looked for again.
 */
export async function withDatabase<T>(
  folder: string,
  name: string,
  use: (source: DatabaseSource) => Promise<T>,
): Promise<T> {
  const store = new LmdbStore(path.join(folder, 'catalogue'));
  const catalogue = new Catalogue(store, () => {});
  try {
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const before = placeOf(folder, catalogue, name);
      const volumes = before.folders.every(([, volume]) => fs.existsSync(path.join(volume, 'data.mdb')))
        ? before.folders.map(([slot, volume]) => new OpenVolume(slot, volume))
        : [];
      try {
        store.refresh();
        const after = placeOf(folder, catalogue, name);
        if (volumes.length > 0 && isSamePlace(before, after)) {
          requireUpgraded(folder, volumes);
          return await use(sourceOf(after.record, volumes));
        }
      } finally {
        for (const volume of volumes) await volume.close();
      }
    }
    throw new StartupError(`The database ${name} is being moved all the time; try again.`);
  } finally {
    await catalogue.close();
  }
}

interface Place {
  record: DatabaseRecord;
  folders: [slot: number, folder: string][];
}

function placeOf(folder: string, catalogue: Catalogue, name: string): Place {
  const record = catalogue.get(name);
  if (record === undefined) throw new StartupError(`${folder} has no database ${name}.`);
  const generations = catalogue.generations();
  const slots = [...new Set(groupsOf(record).map(({ slot }) => slot))];
  return {
    record,
    folders: slots.map((slot) => [slot, path.join(folder, 'documents', `${slot}.${generations[slot]}`)]),
  };
}

function isSamePlace(one: Place, other: Place): boolean {
  const text = ({ record, folders }: Place): string => JSON.stringify([groupsOf(record), folders]);
  return text(one) === text(other);
}

class OpenVolume {
  readonly #store: LmdbStore;
  readonly records: StoreSnapshot;

  constructor(
    readonly slot: number,
    folder: string,
  ) {
    this.#store = new LmdbStore(folder);
    this.records = this.#store.snapshot();
  }

  async close(): Promise<void> {
    this.records.release();
    await this.#store.close();
  }
}

/** In volumes of version 1, attachments do not belong to groups, and would be left out. */
function requireUpgraded(folder: string, volumes: readonly OpenVolume[]): void {
  if (volumes.some(({ records }) => needsUpgrade(records)))
    throw new StartupError(
      `The data folder ${folder} was written by an earlier version, and a single database of it can't be copied yet. ` +
        'Start the server once, which upgrades it; or back up all databases.',
    );
}

function sourceOf(record: DatabaseRecord, volumes: readonly OpenVolume[]): DatabaseSource {
  const settings: DatabaseSettings & Partial<DatabaseRecord> = { ...record };
  for (const placed of ['instance', 'slot', 'groups', 'division'] as const) delete settings[placed];
  const recordsOf = (slot: number): StoreSnapshot => volumes.find((volume) => volume.slot === slot)!.records;
  const groups = groupsOf(record).map(({ group, shards, slot }) => ({
    group,
    shards,
    records: recordsOf(slot),
  }));
  return { settings, groups };
}

/** The slots whose volumes hold a database. */
export async function foldersOf(folder: string, name: string): Promise<string[]> {
  const catalogue = new Catalogue(new LmdbStore(path.join(folder, 'catalogue')), () => {});
  try {
    return placeOf(folder, catalogue, name).folders.map(([, volume]) => path.relative(folder, volume));
  } finally {
    await catalogue.close();
  }
}
