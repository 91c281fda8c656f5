import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { BlobGuards } from './blob-guards.js';
import { requireDigest, type BlobReader, type BlobStore, type BlobWriter } from './blob-store.js';
import { FileBlobReader } from './file-blob-reader.js';
import { FileBlobWriter, type BlobPlaces } from './file-blob-writer.js';
import { FolderSync } from './folder-sync.js';
import { HashThreads } from './hash-threads.js';
import { OpenFiles } from './open-files.js';
import { SharedBuffers } from './shared-buffers.js';
import { sweepTemporaries, temporaryName } from './temporary-files.js';

/** Files being written that are open at once; others take turns. */
const openFilesMax = 64;

const temporaryFolder = 'tmp';
const folderPattern = /^[0-9a-f]{2}$/;
const filePattern = /^[0-9a-f]{62}$/;

/**
 * Blobs in a folder: `docs/formats/blobs.md`. Bytes go to a file in `tmp`, which is synced and only then renamed to the
 * place its digest names; the place is synced before anyone hears of it. So a file that has its place is complete, and
 * a crash leaves nothing but files in `tmp`, which the next start removes, and complete blobs that nobody names.
 */
export class FileBlobStore implements BlobStore {
  readonly #root: string;
  readonly #guards = new BlobGuards();
  readonly #folderSync = new FolderSync();
  readonly #hashes = new HashThreads();
  readonly #places: BlobPlaces;
  /** By the two digits they are named after: known to be there, and durably so. */
  readonly #folders = new Map<string, Promise<void>>();

  private constructor(root: string, filesMax: number) {
    this.#root = root;
    this.#places = {
      files: new OpenFiles(filesMax),
      hashes: this.#hashes,
      buffers: new SharedBuffers(),
      temporaryPath: () => path.join(root, temporaryFolder, temporaryName()),
      claim: (digest) => this.#claim(digest),
      place: (file, digest) => this.#place(file, digest),
      confirm: (digest) => this.#folderSync.sync(path.dirname(this.#pathOf(digest))),
    };
  }

  /** Makes the folder if need be, and removes what uploads of dead processes left in it. */
  static async open(root: string, filesMax = openFilesMax): Promise<FileBlobStore> {
    const store = new FileBlobStore(root, filesMax);
    await mkdir(path.join(root, temporaryFolder), { recursive: true, mode: 0o700 });
    await store.#folderSync.sync(root);
    await store.#folderSync.sync(path.dirname(path.resolve(root)));
    await sweepTemporaries(path.join(root, temporaryFolder));
    return store;
  }

  begin(): BlobWriter {
    return new FileBlobWriter(this.#places);
  }

  async read(digest: string, start = 0, end = Infinity): Promise<BlobReader | undefined> {
    const file = this.#pathOf(digest);
    const release = await this.#guards.hold(digest);
    try {
      const handle = await open(file, 'r');
      const { size } = await handle.stat();
      return new FileBlobReader(handle, size, start, end, release);
    } catch (error) {
      release();
      return undefinedIfMissing(error);
    }
  }

  async has(digest: string): Promise<boolean> {
    const stats = await stat(this.#pathOf(digest)).catch(undefinedIfMissing);
    return stats !== undefined;
  }

  async remove(digests: Iterable<string>): Promise<string[]> {
    const left: string[] = [];
    for (const digest of digests) {
      const file = this.#pathOf(digest);
      // Not synced: a removal that a crash undoes leaves a blob that nobody names, and `list` finds those.
      if (!(await this.#guards.remove(digest, () => rm(file, { force: true })))) left.push(digest);
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
    return this.#hashes.close();
  }

  async #claim(digest: string): Promise<{ release: () => void; exists: boolean }> {
    const release = await this.#guards.hold(digest);
    try {
      return { release, exists: await this.has(digest) };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #place(file: string, digest: string): Promise<void> {
    const place = this.#pathOf(digest);
    await this.#makeFolder(digest.slice(0, 2));
    await rename(file, place);
    await this.#folderSync.sync(path.dirname(place));
  }

  #makeFolder(name: string): Promise<void> {
    let made = this.#folders.get(name);
    if (made === undefined) {
      made = mkdir(path.join(this.#root, name), { recursive: true, mode: 0o700 }).then(() =>
        this.#folderSync.sync(this.#root),
      );
      this.#folders.set(name, made);
      made.catch(() => this.#folders.delete(name));
    }
    return made;
  }

  #pathOf(digest: string): string {
    requireDigest(digest);
    return path.join(this.#root, digest.slice(0, 2), digest.slice(2));
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
}
