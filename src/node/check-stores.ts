import fs from 'node:fs';
import path from 'node:path';
import { asBytes } from '../base/bytes.js';
import { CorruptRecord } from '../base/corrupt-record.js';
import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import type { TimeSlice } from '../base/turns.js';
import { StartupError } from '../base/startup-error.js';
import { UnfinishedUpgrade } from '../storage/lmdb-format.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import { lmdbProblemWithin } from '../storage/lmdb-pages.js';
import type { Store } from '../storage/store.js';
import { Catalogue, groupsOf } from './catalogue.js';
import type { DataFolder } from './data-folder.js';
import { addAllChecksums } from './add-all-checksums.js';
import { upgradeCatalogue } from './upgrade-catalogue.js';
import { needsUpgrade, upgradeVolume } from '../shard/upgrade-volume.js';
import { readStamp, stampWrite, type VolumeStamp } from '../shard/volume-stamp.js';

/** How long a start looks at pages of stores. What is larger than fits is looked at in part; `tuffet doctor` has time. */
const pagesMs = 200;
const indexPagesMs = 100;
/** How many times as long after no crash, one, more: damaged pages may be what has ended the server before. */
const patienceAfterCrashes = [1, 10, Infinity];

const restore = 'Nothing was changed. Restore the data folder from a backup';

/**
 * Looks at the stores of a data folder before they are used: whether they are all there, can be read, and belong
 * together. Refuses to start otherwise, and changes nothing then. A start removes volumes and attachments that nothing
 * names any more; so what is missing, empty, damaged or of another server must never count as "names nothing".
 */
export async function checkStores(folder: DataFolder, logger: Logger, runtime: Runtime): Promise<void> {
  const patience = patienceAfterCrashes[Math.min(folder.crashes, patienceAfterCrashes.length - 1)]!;
  const slice = runtime.slice(pagesMs * patience);
  checkCatalogueFile(folder, slice);
  if (folder.lacksChecksums) await addAllChecksums(folder, logger);
  const store = openStore(folder.path('catalogue'));
  const catalogue = new Catalogue(store, () => {});
  try {
    checkCatalogue(folder, catalogue);
    const check = new VolumesCheck(folder, catalogue, logger, slice);
    check.files();
    const leftovers = await check.leftovers();
    const id = catalogue.id ?? runtime.randomHex(16);
    const stamps = await check.contents(id);
    await trying(logger, async () => {
      if (catalogue.id === undefined) await catalogue.journal.record({ type: 'set_id', id });
      if (folder.catalogueId === undefined) folder.catalogueId = id;
      await check.stamp(stamps);
      folder.raiseFormat();
      await upgradeCatalogue(store);
    });
    await check.upgrade();
    if (folder.lacksChecksums) folder.endChecksums();
    for (const name of leftovers) fs.rmSync(folder.path('documents', name), { recursive: true, force: true });
  } finally {
    await catalogue.close();
  }
  removeDamagedIndexes(folder, logger, runtime.slice(indexPagesMs * patience));
}

/** Indexes are made of documents: damaged ones are removed, and rebuilt when they are asked for. */
function removeDamagedIndexes(folder: DataFolder, logger: Logger, slice: TimeSlice): void {
  for (const name of namesIn(folder.path('indexes'))) {
    const file = folder.path('indexes', name, 'data.mdb');
    const problem = lmdbProblemWithin(file, slice) ?? formatProblem(folder.path('indexes', name));
    if (problem === undefined || problem.startsWith('cannot be read')) continue;
    logger.warn({ file }, `the store of the indexes ${problem}: the indexes of all views are built anew`);
    fs.rmSync(folder.path('indexes', name), { recursive: true, force: true });
  }
}

function formatProblem(folder: string): string | undefined {
  try {
    const store = new LmdbStore(folder);
    void store.close();
    return store.hasChecksums ? undefined : 'does not say that its records have checksums';
  } catch (error) {
    return error instanceof CorruptRecord || error instanceof UnfinishedUpgrade ? error.message : undefined;
  }
}

/** A server must start on a full disk too; what could not be written now is written by a later start. */
async function trying(logger: Logger, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    logger.warn(
      { err: error },
      'the data folder could not be upgraded, or its stores not be marked as belonging together',
    );
  }
}

function checkCatalogueFile(folder: DataFolder, slice: TimeSlice): void {
  const file = folder.path('catalogue', 'data.mdb');
  const problem = lmdbProblemWithin(file, slice);
  if (problem === undefined) return;
  if ((problem === 'is missing' || problem === 'is empty') && !holdsData(folder)) return;
  throw new StartupError(
    `The catalogue, ${file}, ${problem}. Without it the server does not know which databases there are. ${restore}; ` +
      'to begin with an empty server, name another data folder.',
  );
}

function checkCatalogue(folder: DataFolder, catalogue: Catalogue): void {
  const file = folder.path('catalogue', 'data.mdb');
  try {
    catalogue.generations();
  } catch (error) {
    throw new StartupError(`The catalogue, ${file}, is damaged: ${(error as Error).message}. ${restore}.`);
  }
  if (folder.catalogueId !== undefined && catalogue.id !== folder.catalogueId) {
    throw new StartupError(
      `The catalogue, ${file}, is not the one that tuffet.json beside it names: it is of another server, or was made ` +
        `anew. ${restore}.`,
    );
  }
  if (catalogue.generations().length === 0 && (hasVolumes(folder) || hasBlobs(folder))) {
    throw new StartupError(
      `The catalogue, ${file}, knows no databases, but the data folder holds documents or attachments. ${restore}; ` +
        'to begin with an empty server, name another data folder.',
    );
  }
  if (folder.catalogueId !== undefined && !fs.existsSync(folder.path('attachments'))) {
    throw new StartupError(
      `The folder ${folder.path('attachments')} is missing. ${restore}; if there were no attachments larger than ` +
        '32 KB, make an empty folder of that name.',
    );
  }
}

const holdsData = (folder: DataFolder): boolean =>
  folder.catalogueId !== undefined || hasVolumes(folder) || hasBlobs(folder);

const namesIn = (folder: string): string[] => (fs.existsSync(folder) ? fs.readdirSync(folder) : []);

const volumePattern = /^(\d+)\.(\d+)$/;
const hasVolumes = (folder: DataFolder): boolean =>
  namesIn(folder.path('documents')).some((name) => volumePattern.test(name));
const hasBlobs = (folder: DataFolder): boolean =>
  namesIn(folder.path('attachments')).some(
    (name) => /^[0-9a-f]{2}$/.test(name) && namesIn(folder.path('attachments', name)).length > 0,
  );

function openStore(folder: string): LmdbStore {
  let store: LmdbStore;
  try {
    store = new LmdbStore(folder);
  } catch (error) {
    throw new StartupError(`The store ${folder} cannot be opened: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (store.hasChecksums) return store;
  void store.close();
  throw new StartupError(
    `The store ${folder} does not say that its records have checksums: it is damaged, or of an earlier version than the ` +
      `folder is. ${restore}, as a whole.`,
  );
}

/** The volumes that a catalogue names, and the other files beside them. */
class VolumesCheck {
  readonly #generations: readonly number[];

  constructor(
    private readonly folder: DataFolder,
    private readonly catalogue: Catalogue,
    private readonly logger: Logger,
    private readonly slice: TimeSlice,
  ) {
    this.#generations = catalogue.generations();
  }

  files(): void {
    const problems = this.#generations.flatMap((generation, slot) => {
      const file = path.join(this.#path(`${slot}.${generation}`), 'data.mdb');
      const problem = lmdbProblemWithin(file, this.slice);
      return problem === undefined
        ? []
        : [`The volume ${file} ${problem}. It holds ${this.#databasesIn(slot)}.`];
    });
    if (problems.length > 0) throw new StartupError(`${problems.join('\n')}\n${restore}.`);
  }

  /** What the volumes say of themselves must fit the catalogue. Gives the stamps that are to be written. */
  async contents(id: string): Promise<VolumeStamp[]> {
    const wanted: VolumeStamp[] = [];
    for (const [slot, generation] of this.#generations.entries()) {
      const name = `${slot}.${generation}`;
      const { stamp, instance } = await this.#look(name);
      if (
        stamp !== undefined &&
        (stamp.catalogue !== id || stamp.slot !== slot || stamp.generation > generation)
      )
        throw foreign(this.#path(name), 'it is of another server, or of another place in this one');
      if (instance >= this.catalogue.nextInstance)
        throw foreign(this.#path(name), 'it holds a database that the catalogue has never known');
      if (stamp?.generation !== generation) wanted.push({ catalogue: id, slot, generation });
    }
    return wanted;
  }

  /** Volumes of earlier versions are brought up to date: only then can they be used. */
  async upgrade(): Promise<void> {
    for (const [slot, generation] of this.#generations.entries()) {
      const volume = this.#path(`${slot}.${generation}`);
      const store = openStore(volume);
      try {
        if (!needsUpgrade(store)) continue;
        this.logger.notice({ volume }, 'upgrading a volume of an earlier version');
        this.folder.raiseFormat();
        await upgradeVolume(store);
      } catch (error) {
        const { message } = error as Error;
        throw new StartupError(
          `The volume ${volume} could not be upgraded: ${message}. Nothing is lost; the next start goes on with it.`,
          { cause: error },
        );
      } finally {
        await store.close();
      }
    }
  }

  async stamp(stamps: readonly VolumeStamp[]): Promise<void> {
    for (const stamp of stamps) {
      const store = openStore(this.#path(`${stamp.slot}.${stamp.generation}`));
      await store.write([stampWrite(stamp)]).flushed.finally(() => store.close());
    }
  }

  /** The folders that a replacement or a beginning of a volume which was cut short has left: nothing else is removed. */
  async leftovers(): Promise<string[]> {
    const removable: string[] = [];
    for (const name of namesIn(this.folder.path('documents'))) {
      if (await this.#isLeftover(name)) removable.push(name);
    }
    return removable;
  }

  async #isLeftover(name: string): Promise<boolean> {
    if (/^\d+\.\d+\.copy$/.test(name)) return true;
    const [, slot = NaN, generation = NaN] = (volumePattern.exec(name) ?? []).map(Number);
    const current = this.#generations[slot];
    if (Number.isNaN(slot) || generation === current) return false;
    // The catalogue has named a later one, which is there.
    if (current !== undefined && generation < current) return true;
    const file = path.join(this.#path(name), 'data.mdb');
    const problem = lmdbProblemWithin(file, this.slice);
    if (problem === 'is missing' || problem === 'is empty') return true;
    if (problem !== undefined) {
      this.logger.warn({ file }, `a volume that the catalogue does not name ${problem}; it is left alone`);
      return false;
    }
    const { stamp, instance } = await this.#look(name);
    // A copy keeps the generation of its original until the catalogue names it.
    if (current === undefined ? instance === 0 : (stamp?.generation ?? 0) < generation) return true;
    throw foreign(this.#path(name), 'the catalogue does not know it');
  }

  /** The stamp of a volume, and the highest instance number of a database in it; 0 where it holds none. */
  async #look(name: string): Promise<{ stamp: VolumeStamp | undefined; instance: number }> {
    const store = openStore(this.#path(name));
    try {
      return { stamp: readStamp(store), instance: highestInstance(store) };
    } catch (error) {
      throw new StartupError(`The volume ${this.#path(name)} cannot be read: ${(error as Error).message}`);
    } finally {
      await store.close();
    }
  }

  #databasesIn(slot: number): string {
    const all = { inclusiveEnd: true, descending: false, skip: 0, limit: Infinity };
    const names = [...this.catalogue.names(all)].filter((name) =>
      groupsOf(this.catalogue.get(name)!).some((group) => group.slot === slot),
    );
    const few = names.slice(0, 5).join(', ');
    return `${names.length} databases${few === '' ? '' : ` (${few}${names.length > 5 ? ', …' : ''})`}`;
  }

  #path(name: string): string {
    return this.folder.path('documents', name);
  }
}

function highestInstance(store: Store): number {
  const [key] = store.keys({ start: asBytes('\0\0\0\0\x01'), end: asBytes('\xff'), reverse: true, limit: 1 });
  return key === undefined ? 0 : Buffer.from(key.slice(0, 5), 'latin1').readUIntBE(0, 5);
}

const foreign = (folder: string, why: string): StartupError =>
  new StartupError(
    `The volume ${folder} does not belong to the catalogue beside it: ${why}. Files of different backups, or of ` +
      `different servers, don't fit together. ${restore}, as a whole.`,
  );
