import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';
import { packageVersion } from '../base/version.js';
import { Catalogue, groupsOf } from '../node/catalogue.js';
import { instancesIn } from '../node/instances.js';
import { blobsNamedIn } from '../shard/volume-blobs.js';
import { lastTransaction } from '../storage/lmdb-file.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import { blobsBelow, copyHashed, filesBelow, hashFile, link } from './copy-files.js';
import { manifestName, readManifest, type FileEntry, type Manifest } from './manifest.js';
import type { Progress } from './progress.js';

/** How often a volume that is replaced while it is copied is looked for again. */
const attemptsMax = 5;
const configFiles =
  /^(?:tuffet\.json|config-api\.ini|(?:default|local)\.ini|(?:default|local)\.d\/[^/]+\.ini)$/;

/** Fills the folder of one backup; `backup.ts` says in which order and why. */
export class BackupWork {
  readonly #files: Record<string, FileEntry> = {};
  readonly #problems: string[] = [];
  readonly #blobs = new Map<string, number>();
  readonly #before: Manifest | undefined;
  /** Of each volume that is copied, by its slot: the folder of the copy. */
  readonly #volumes: string[] = [];
  sharedBytes = 0;

  constructor(
    private readonly from: string,
    private readonly target: string,
    private readonly previous: string | undefined,
    private readonly progress: Progress,
  ) {
    this.#before = previous === undefined ? undefined : readManifest(previous);
  }

  async run(): Promise<Manifest> {
    await this.#copyBlobs();
    await this.#copyStores();
    await this.#copyBlobs();
    await this.#settleBlobs();
    for (const name of ['catalogue', ...this.#volumes])
      fs.rmSync(path.join(this.target, name, 'lock.mdb'), { force: true });
    for (const name of filesBelow(this.from)) if (configFiles.test(name)) await this.#copyFile(name);
    const { uuid } = JSON.parse(fs.readFileSync(path.join(this.target, 'tuffet.json'), 'utf8')) as Manifest;
    const manifest: Manifest = {
      format: 1,
      version: packageVersion(),
      made_at: new Date().toISOString(),
      uuid,
      files: this.#files,
      attachments: { count: this.#blobs.size, bytes: sum(this.#blobs.values()) },
      problems: this.#problems,
    };
    const text = `${JSON.stringify(manifest, null, 2)}\n`;
    fs.writeFileSync(path.join(this.target, manifestName), text, { mode: 0o600, flush: true });
    return manifest;
  }

  async #copyBlobs(): Promise<void> {
    const source = path.join(this.from, 'attachments');
    fs.mkdirSync(path.join(this.target, 'attachments'), { recursive: true, mode: 0o700 });
    const missing = [...blobsBelow(source)].filter(({ digest }) => !this.#blobs.has(digest));
    const sizes = missing.map(({ name }) => sizeOf(path.join(source, name)));
    this.progress.begin('attachments', sum(sizes));
    for (const [i, { digest, name }] of missing.entries()) await this.#copyBlob(digest, name, sizes[i]!);
  }

  async #copyBlob(digest: string, name: string, bytes: number): Promise<void> {
    const source = path.join(this.from, 'attachments', name);
    const target = path.join(this.target, 'attachments', name);
    fs.mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
    const known = this.previous && path.join(this.previous, 'attachments', name);
    if (known !== undefined && sizeOf(known) === bytes && (await link(known, target))) {
      this.sharedBytes += bytes;
      this.progress.advance(bytes);
    } else {
      try {
        const copied = await copyHashed(source, target, this.progress);
        if (copied !== digest) this.#problems.push(`The bytes of the attachment ${source} have changed.`);
      } catch (error) {
        // No document names it any more, or it is missed when the volumes are looked at.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        return fs.rmSync(target, { force: true });
      }
    }
    this.#blobs.set(digest, bytes);
  }

  /** Only those that documents of the backup name stay; those that are named must be there. */
  async #settleBlobs(): Promise<void> {
    const named = new Set<string>();
    for (const folder of this.#volumes) {
      const store = new LmdbStore(path.join(this.target, folder));
      for (const digest of blobsNamedIn(store)) named.add(digest);
      await store.close();
    }
    for (const digest of this.#blobs.keys()) {
      if (named.has(digest)) continue;
      fs.rmSync(path.join(this.target, 'attachments', digest.slice(0, 2), digest.slice(2)), { force: true });
      this.#blobs.delete(digest);
    }
    for (const digest of named)
      if (!this.#blobs.has(digest))
        this.#problems.push(`The attachment with the SHA-256 ${digest} is missing.`);
  }

  async #copyStores(): Promise<void> {
    const started = Math.floor(Date.now() / 1000);
    for (let attempt = 1; ; attempt++) {
      for (const [slot, generation] of (await this.#generations(this.from)).entries())
        if (this.#volumes[slot] === undefined) await this.#copyVolume(slot, generation);
      await this.#copyCatalogue();
      const named = await this.#generations(this.target);
      if (named.length === this.#volumes.length) return this.#finishStores(named, started);
      if (attempt === attemptsMax)
        throw new StartupError('The server begins new volumes all the time; try again.');
      fs.rmSync(path.join(this.target, 'catalogue'), { recursive: true });
    }
  }

  /** Volumes are kept under the generation that the catalogue's copy names. */
  async #finishStores(generations: readonly number[], started: number): Promise<void> {
    const stores = ['catalogue'];
    for (const [slot, generation] of generations.entries()) {
      const name = path.join('documents', `${slot}.${generation}`);
      const copied = this.#volumes[slot]!;
      if (name !== copied) fs.renameSync(path.join(this.target, copied), path.join(this.target, name));
      this.#volumes[slot] = name;
      const entry = this.#files[path.join(copied, 'data.mdb')];
      delete this.#files[path.join(copied, 'data.mdb')];
      if (entry !== undefined) this.#files[path.join(name, 'data.mdb')] = entry;
      stores.push(name);
    }
    await this.#noteDeleted();
    // A volume's copy may not have reached the sequences of marks that were made meanwhile.
    await withCatalogue(this.target, (catalogue) => catalogue.dropMarksSince(started));
    for (const name of stores) await this.#addStore(name);
  }

  async #addStore(name: string): Promise<void> {
    const file = path.join(name, 'data.mdb');
    const full = path.join(this.target, file);
    const known = this.#files[file];
    if (known?.sha256) return;
    fs.chmodSync(full, 0o600);
    this.#files[file] = { bytes: sizeOf(full), sha256: await hashFile(full), ...sourceOf(known) };
  }

  async #copyVolume(slot: number, generation: number): Promise<void> {
    const folder = path.join('documents', `${slot}.${generation}`);
    const source = path.join(this.from, folder);
    const transaction = lastTransaction(path.join(source, 'data.mdb'));
    const target = path.join(this.target, folder);
    fs.mkdirSync(target, { recursive: true, mode: 0o700 });
    const file = path.join(folder, 'data.mdb');
    const known = this.#unchanged(folder, transaction);
    this.progress.begin(`documents (${slot + 1})`, 0);
    if (known !== undefined && (await link(path.join(this.previous!, known), path.join(this.target, file)))) {
      this.#files[file] = this.#before!.files[known]!;
      this.sharedBytes += this.#files[file].bytes;
    } else {
      await copyStore(source, target);
      if (transaction !== undefined)
        this.#files[file] = { bytes: 0, sha256: '', source: { folder, transaction } };
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
    await copyStore(path.join(this.from, 'catalogue'), target);
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
    const sha256 = await copyHashed(path.join(this.from, name), target, this.progress);
    this.#files[name] = { bytes: sizeOf(target), sha256 };
  }
}

const sourceOf = (entry: FileEntry | undefined): Pick<FileEntry, 'source'> =>
  entry?.source === undefined ? {} : { source: entry.source };

async function copyStore(source: string, target: string): Promise<void> {
  if (!fs.existsSync(path.join(source, 'data.mdb')))
    throw new StartupError(`The store ${source} is not there.`);
  const store = new LmdbStore(source);
  await store.copyTo(target).finally(() => store.close());
}

async function withCatalogue<T>(folder: string, use: (catalogue: Catalogue) => Promise<T>): Promise<T> {
  const catalogue = new Catalogue(new LmdbStore(path.join(folder, 'catalogue')), () => {});
  try {
    return await use(catalogue);
  } finally {
    await catalogue.close();
  }
}

const sizeOf = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.size ?? -1;

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += Math.max(0, number);
  return total;
}
