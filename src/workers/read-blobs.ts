import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { BlobChecks } from '../blobs/blob-checks.js';
import { requireDigest, type BlobReader, type BlobStore, type BlobWriter } from '../blobs/blob-store.js';
import { FileBlobReader, readAhead, readBytes } from '../blobs/file-blob-reader.js';
import { NotHere } from './not-here.js';

/** Files that are open at a time; what needs more is left to the owner of the data folder. */
const openMax = 500;

interface OpenBlob {
  handle: Promise<FileHandle>;
  holders: number;
}

/**
 * The large attachments of a data folder that another process owns. That one may remove a blob at any time; files never
 * change, though, and one that is open can be read to its end. So a blob is held by having it open.
 */
export class ReadBlobs implements BlobStore {
  readonly #open = new Map<string, OpenBlob>();
  readonly #checks = new BlobChecks();

  constructor(private readonly root: string) {}

  async hold(digest: string): Promise<() => void> {
    const blob = await this.#take(digest);
    let isHeld = true;
    return () => {
      if (isHeld) this.#letGo(digest, blob);
      isHeld = false;
    };
  }

  async read(digest: string, start = 0, end = Infinity): Promise<BlobReader> {
    const blob = await this.#take(digest);
    try {
      const handle = await blob.handle;
      const stats = await handle.stat();
      const shared = {
        read: handle.read.bind(handle),
        close: () => Promise.resolve(),
      } as unknown as FileHandle;
      const release = (): void => this.#letGo(digest, blob);
      const check = this.#checks.of(digest, stats, () => undefined);
      const isWhole = start === 0 && end >= stats.size;
      if (check === undefined || (!isWhole && stats.size > readBytes))
        return new FileBlobReader(shared, stats.size, start, end, release);
      const whole = new FileBlobReader(shared, stats.size, 0, stats.size, release, check);
      return stats.size > readBytes ? whole : await readAhead(whole, start, end);
    } catch (error) {
      this.#letGo(digest, blob);
      throw error;
    }
  }

  async #take(digest: string): Promise<OpenBlob> {
    requireDigest(digest);
    let blob = this.#open.get(digest);
    if (blob === undefined) {
      if (this.#open.size >= openMax) throw new NotHere();
      blob = { handle: open(path.join(this.root, digest.slice(0, 2), digest.slice(2)), 'r'), holders: 0 };
      this.#open.set(digest, blob);
    }
    blob.holders++;
    try {
      await blob.handle;
      return blob;
    } catch {
      this.#letGo(digest, blob);
      // It is gone, or there are too many open files: the owner knows more.
      throw new NotHere();
    }
  }

  #letGo(digest: string, blob: OpenBlob): void {
    if (--blob.holders > 0) return;
    if (this.#open.get(digest) === blob) this.#open.delete(digest);
    blob.handle.then((handle) => handle.close()).catch(() => undefined);
  }

  begin(): BlobWriter {
    throw new NotHere();
  }

  has(): Promise<boolean> {
    return Promise.reject(new NotHere());
  }

  remove(): Promise<string[]> {
    return Promise.reject(new NotHere());
  }

  list(): AsyncIterable<string> {
    throw new NotHere();
  }

  async close(): Promise<void> {}
}
