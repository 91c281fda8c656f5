import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';
import { packageVersion } from '../base/version.js';
import { Catalogue, groupsOf } from '../node/catalogue.js';
import { instancesIn } from '../node/instances.js';
import { DatabaseKeys } from '../shard/keys.js';
import { blobsNamedIn } from '../shard/volume-blobs.js';
import { lastTransaction } from '../storage/lmdb-file.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import { BackupBlobs } from './backup-blobs.js';
import { copyDigested, link, sizeOf } from './copy-files.js';
import { copyStore, describeFile, StoreMissing } from './copy-store.js';
import { isSameHistory, readIdentity, upgrading } from './identity.js';
import { readManifest, writeManifest, type FileEntry, type Manifest } from './manifest.js';
import type { Progress } from './progress.js';

/** How often a volume that is replaced while it is copied is looked for again. */
const attemptsMax = 5;
const configFiles = /^(?:tuffet\.json|config-api\.ini|(?:default|local)\.ini)$/;
const configFolders = ['default.d', 'local.d'];

/** Fills the folder of one backup; `backup.ts` says in which order and why. */
export class BackupWork {
  readonly #files: Record<string, FileEntry> = {};
  readonly #blobs: BackupBlobs;
  /** The backup before, if it is of the same history: then the numbers of transactions can be compared. */
  readonly #before: Manifest | undefined;
  /** Of each volume that is copied, by its slot: the folder of the copy. */
  readonly #volumes: string[] = [];
  #sharedBytes = 0;

  constructor(
    private readonly from: string,
    private readonly target: string,
    private readonly previous: string | undefined,
    private readonly progress: Progress,
  ) {
    const before = previous === undefined ? undefined : readManifest(previous);
    if (before !== undefined && isSameHistory(before, readIdentity(from))) this.#before = before;
    this.#blobs = new BackupBlobs(from, target, previous, progress);
  }

  /** Bytes that are shared with the backup before. */
  get sharedBytes(): number {
    return this.#sharedBytes + this.#blobs.sharedBytes;
  }

  async run(): Promise<Manifest> {
    const identity = readIdentity(this.from);
    await this.#blobs.copy();
    await this.#copyStores();
    await this.#blobs.copy();
    await this.#settleBlobs();
    for (const name of ['catalogue', ...this.#volumes])
      fs.rmSync(path.join(this.target, name, 'lock.mdb'), { force: true });
    for (const name of configFilesIn(this.from)) await this.#copyFile(name);
    // Stores of before and after an upgrade don't fit together.
    const { format, uuid, history } = readIdentity(this.target);
    if (format !== identity.format) throw upgrading(this.from);
    return writeManifest(this.target, {
      format: 2,
      version: packageVersion(),
      made_at: new Date().toISOString(),
      uuid,
      ...(history === undefined ? {} : { history }),
      files: this.#files,
      attachments: this.#blobs.summary,
      problems: this.#blobs.problems,
    });
  }

  async #settleBlobs(): Promise<void> {
    const named = new Set<string>();
    for (const folder of this.#volumes) {
      const store = new LmdbStore(path.join(this.target, folder));
      for (const digest of blobsNamedIn(store)) named.add(digest);
      await store.close();
    }
    this.#blobs.settle(named);
  }

  async #copyStores(): Promise<void> {
    const started = Math.floor(Date.now() / 1000);
    for (let attempt = 1; ; attempt++) {
      await this.#copyVolumes();
      await this.#copyCatalogue();
      const named = await this.#generations(this.target);
      const early = await this.#copiedTooEarly();
      if (named.length === this.#volumes.length && early.size === 0)
        return this.#finishStores(named, started);
      if (attempt === attemptsMax)
        throw new StartupError('The server begins new volumes all the time; try again.');
      fs.rmSync(path.join(this.target, 'catalogue'), { recursive: true });
      for (const slot of early) this.#dropVolume(slot);
    }
  }

  /** Volumes whose copies don't have all of a group that has taken the place of another since. */
  async #copiedTooEarly(): Promise<Set<number>> {
    const placed = await withCatalogue(this.target, (catalogue) =>
      Promise.resolve(catalogue.databases().flatMap(([, record]) => groupsOf(record))),
    );
    const slots = new Set<number>();
    for (const { group, slot, from } of placed) {
      const folder = this.#volumes[slot];
      if (from === undefined || folder === undefined || slots.has(slot)) continue;
      const store = new LmdbStore(path.join(this.target, folder));
      const state = store.get(new DatabaseKeys(group).group);
      await store.close();
      if (state === undefined) slots.add(slot);
    }
    return slots;
  }

  #dropVolume(slot: number): void {
    const folder = this.#volumes[slot]!;
    fs.rmSync(path.join(this.target, folder), { recursive: true });
    delete this.#files[path.join(folder, 'data.mdb')];
    delete this.#volumes[slot];
  }

  /** One that was replaced before its copy began is looked for under its new generation. */
  async #copyVolumes(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        for (const [slot, generation] of (await this.#generations(this.from)).entries())
          if (this.#volumes[slot] === undefined) await this.#copyVolume(slot, generation);
        return;
      } catch (error) {
        if (!(error instanceof StoreMissing) || attempt === attemptsMax) throw error;
      }
    }
  }

  /** Volumes are kept under the generation that the catalogue's copy names. */
  async #finishStores(generations: readonly number[], started: number): Promise<void> {
    for (const [slot, generation] of generations.entries()) {
      const name = path.join('documents', `${slot}.${generation}`);
      const copied = this.#volumes[slot]!;
      if (name !== copied) fs.renameSync(path.join(this.target, copied), path.join(this.target, name));
      this.#volumes[slot] = name;
      const entry = this.#files[path.join(copied, 'data.mdb')];
      delete this.#files[path.join(copied, 'data.mdb')];
      if (entry !== undefined) this.#files[path.join(name, 'data.mdb')] = entry;
    }
    await this.#noteDeleted();
    // A volume's copy may not have reached the sequences of marks that were made meanwhile.
    await withCatalogue(this.target, (catalogue) => catalogue.dropMarksSince(started));
    const catalogue = path.join('catalogue', 'data.mdb');
    this.#files[catalogue] = await describeFile(path.join(this.target, catalogue));
  }

  async #copyVolume(slot: number, generation: number): Promise<void> {
    const folder = path.join('documents', `${slot}.${generation}`);
    const source = path.join(this.from, folder);
    const target = path.join(this.target, folder);
    const file = path.join(folder, 'data.mdb');
    const known = this.#unchanged(folder, lastTransaction(path.join(source, 'data.mdb')));
    this.progress.begin(`documents (${slot + 1})`, Math.max(0, sizeOf(path.join(source, 'data.mdb'))));
    fs.mkdirSync(target, { recursive: true, mode: 0o700 });
    if (known !== undefined && (await link(path.join(this.previous!, known), path.join(this.target, file)))) {
      this.#files[file] = this.#before!.files[known]!;
      this.#sharedBytes += this.#files[file].bytes;
    } else {
      const { transaction, ...entry } = await copyStore(source, target, this.progress).catch(
        (error: unknown) => {
          fs.rmSync(target, { recursive: true });
          throw error;
        },
      );
      this.#files[file] = transaction === undefined ? entry : { ...entry, source: { folder, transaction } };
    }
    this.#volumes[slot] = folder;
  }

  /** The file in the backup before that holds the same. */
  #unchanged(folder: string, transaction: number | undefined): string | undefined {
    if (transaction === undefined || this.#before === undefined) return undefined;
    return Object.entries(this.#before.files).find(
      ([, { source }]) => source?.folder === folder && source.transaction === transaction,
    )?.[0];
  }

  async #copyCatalogue(): Promise<void> {
    const target = path.join(this.target, 'catalogue');
    fs.mkdirSync(target, { mode: 0o700 });
    await copyStore(path.join(this.from, 'catalogue'), target, this.progress);
  }

  async #generations(folder: string): Promise<number[]> {
    return await withCatalogue(folder, (catalogue) => Promise.resolve(catalogue.generations()));
  }

  /** Databases whose name was gone when the catalogue was copied. */
  async #noteDeleted(): Promise<void> {
    await withCatalogue(this.target, async (catalogue) => {
      const known = new Set(
        catalogue.databases().flatMap(([, record]) => groupsOf(record).map(({ group }) => group)),
      );
      for (const { instance } of catalogue.erasures()) known.add(instance);
      for (const [slot, folder] of this.#volumes.entries()) {
        const store = new LmdbStore(path.join(this.target, folder));
        const gone = [...instancesIn(store)].filter((instance) => !known.has(instance));
        await store.close();
        for (const instance of gone) await catalogue.journal.record({ type: 'erase', instance, slot });
      }
    });
  }

  async #copyFile(name: string): Promise<void> {
    const target = path.join(this.target, name);
    fs.mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
    const gmac = await copyDigested(path.join(this.from, name), target, 'gmac', this.progress);
    this.#files[name] = { bytes: sizeOf(target), gmac };
  }
}

function configFilesIn(folder: string): string[] {
  const inFolders = configFolders.flatMap((name) =>
    namesIn(path.join(folder, name))
      .filter((file) => file.endsWith('.ini'))
      .map((file) => path.join(name, file)),
  );
  return [...namesIn(folder).filter((name) => configFiles.test(name)), ...inFolders];
}

const namesIn = (folder: string): string[] => (fs.existsSync(folder) ? fs.readdirSync(folder).sort() : []);

async function withCatalogue<T>(folder: string, use: (catalogue: Catalogue) => Promise<T>): Promise<T> {
  const catalogue = new Catalogue(new LmdbStore(path.join(folder, 'catalogue')), () => {});
  try {
    return await use(catalogue);
  } finally {
    await catalogue.close();
  }
}
