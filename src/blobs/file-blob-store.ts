import { link, mkdir, open, readdir, rename, rm, stat, unlink, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { SystemRuntime, type Runtime } from '../base/runtime.js';
import { BoundedMap } from '../base/bounded-map.js';
import { BlobGuards } from './blob-guards.js';
import { requireDigest, type BlobReader, type BlobStore, type BlobWriter } from './blob-store.js';
import { BlobThreads } from './blob-threads.js';
import { BlobChecks } from './blob-checks.js';
import { FileBlobReader, readAhead, readBytes } from './file-blob-reader.js';
import { FileBlobWriter, type BlobPlaces } from './file-blob-writer.js';
import { FolderSync, openFolder } from './folder-sync.js';
import { OpenFiles } from './open-files.js';
import { TemporaryFiles } from './temporary-files.js';
import { WriteBuffers } from './write-buffers.js';

/** Files being written that are open at once; others take turns. */
const openFilesMax = 64;

/** Blobs known to be durable; of others that are sent again, the bytes are written again. */
const durableMax = 10_000;

const temporaryFolder = 'tmp';
const folderPattern = /^[0-9a-f]{2}$/;
const filePattern = /^[0-9a-f]{62}$/;

/**
 * Blobs in a folder: `docs/formats/blobs.md`. Bytes go to a file in `tmp`, which then gets the name that its digest
 * asks for; bytes and name are synced together before its name is given out. A crash leaves nothing but files in `tmp`,
 * which the next start removes, and unreferenced blobs. The loss of power may leave of these a name without all
 * its bytes; so a name that is found taken is believed only if this store knows it to be durable.
 */
export class FileBlobStore implements BlobStore {
  readonly #root: string;
  readonly #guards = new BlobGuards();
  readonly #folderSync = new FolderSync();
  readonly #threads = new BlobThreads();
  readonly #places: BlobPlaces;
  readonly #checks = new BlobChecks();
  /** By digest. */
  readonly #durable = new BoundedMap<string, true>(durableMax);
  /** By the two digits they are named after: known to be there, and durably so. */
  readonly #folders = new Map<string, Promise<void>>();
  #isRootDurable = false;

  private constructor(root: string, filesMax: number, temporaries: TemporaryFiles) {
    this.#root = root;
    this.#places = {
      files: new OpenFiles(filesMax),
      threads: this.#threads,
      buffers: new WriteBuffers(),
      temporaryPath: () => temporaries.newPath(),
      claim: (digest) => this.#claim(digest),
      place: (handle, file, digest) => this.#place(handle, file, digest),
    };
  }

  /** Makes the folder if need be, and removes what uploads of dead processes left in it. */
  static async open(
    root: string,
    filesMax = openFilesMax,
    runtime: Runtime = new SystemRuntime(),
  ): Promise<FileBlobStore> {
    const folder = path.join(root, temporaryFolder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const temporaries = new TemporaryFiles(folder, runtime);
    await temporaries.sweep();
    return new FileBlobStore(root, filesMax, temporaries);
  }

  begin(): BlobWriter {
    return new FileBlobWriter(this.#places);
  }

  async read(digest: string, start = 0, end = Infinity): Promise<BlobReader | undefined> {
    const file = this.#pathOf(digest);
    const release = await this.#guards.hold(digest);
    try {
      const handle = await open(file, 'r');
      return await this.#reader(handle, digest, start, end, release).catch(async (error: unknown) => {
        await handle.close();
        throw error;
      });
    } catch (error) {
      release();
      return undefinedIfMissing(error);
    }
  }

  async #reader(
    handle: FileHandle,
    digest: string,
    start: number,
    end: number,
    release: () => void,
  ): Promise<BlobReader> {
    const stats = await handle.stat();
    const check = this.#checks.of(digest, stats, () => this.#durable.delete(digest));
    const isWhole = start === 0 && end >= stats.size;
    if (check === undefined || (!isWhole && stats.size > readBytes))
      return new FileBlobReader(handle, stats.size, start, end, release);
    const whole = new FileBlobReader(handle, stats.size, 0, stats.size, release, check);
    return stats.size > readBytes ? whole : await readAhead(whole, start, end);
  }

  hold(digest: string): Promise<() => void> {
    requireDigest(digest);
    return this.#guards.hold(digest);
  }

  async has(digest: string): Promise<boolean> {
    const stats = await stat(this.#pathOf(digest)).catch(undefinedIfMissing);
    return stats !== undefined;
  }

  async remove(digests: Iterable<string>): Promise<string[]> {
    const left: string[] = [];
    for (const digest of digests) {
      const file = this.#pathOf(digest);
      const removal = async (): Promise<void> => {
        this.#durable.delete(digest);
        // Not synced: a removal undone by a crash leaves an unreferenced blob, which `list` finds.
        await rm(file, { force: true });
      };
      if (!(await this.#guards.remove(digest, removal))) left.push(digest);
    }
    return left;
  }

  async *list(): AsyncIterable<string> {
    for (const folder of await readdir(this.#root)) {
      if (!folderPattern.test(folder)) continue;
      for (const name of await readdir(path.join(this.#root, folder))) {
        if (filePattern.test(name)) yield folder + name;
      }
    }
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  async #claim(digest: string): Promise<{ release: () => void; exists: boolean }> {
    const release = await this.#guards.hold(digest);
    try {
      return { release, exists: this.#durable.get(digest) === true && (await this.has(digest)) };
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * The name first, then bytes and name are synced at once: a file system with a journal makes one commit of both.
   * That must not be done to a name that is taken: behind it may lie the bytes of a document, which the loss of power
   * would exchange for a torn file. Only `link` tells without a race.
   */
  async #place(handle: FileHandle, file: string, digest: string): Promise<void> {
    const place = this.#pathOf(digest);
    const folder = path.dirname(place);
    await this.#makeFolder(digest.slice(0, 2));
    // Side by side: every wait for another thread is a long one when the processors are busy.
    const linked = isLinked(file, place);
    const opened = await openFolder(folder);
    try {
      if (await linked) await Promise.all([handle.datasync(), opened.sync(), unlink(file)]);
      else {
        await handle.datasync();
        await rename(file, place);
        await opened.sync();
      }
    } finally {
      opened.close();
    }
    this.#durable.set(digest, true);
  }

  #makeFolder(name: string): Promise<void> {
    let made = this.#folders.get(name);
    if (made === undefined) {
      made = this.#makeDurably(name);
      this.#folders.set(name, made);
      made.catch(() => this.#folders.delete(name));
    }
    return made;
  }

  /** Not at the start, which must not fail where the disk does: what is there can be read. */
  async #makeDurably(name: string): Promise<void> {
    await mkdir(path.join(this.#root, name), { recursive: true, mode: 0o700 });
    await this.#folderSync.sync(this.#root);
    if (this.#isRootDurable) return;
    await this.#folderSync.sync(path.dirname(path.resolve(this.#root)));
    this.#isRootDurable = true;
  }

  #pathOf(digest: string): string {
    requireDigest(digest);
    return path.join(this.#root, digest.slice(0, 2), digest.slice(2));
  }
}

/** False when the name is taken, or the file system has no second names; what else is wrong, the next step will meet. */
const isLinked = (file: string, name: string): Promise<boolean> =>
  link(file, name).then(
    () => true,
    () => false,
  );

function undefinedIfMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
}
