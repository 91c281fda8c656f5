import { BlobGuards } from './blob-guards.js';
import { hashOf } from './blob-hash.js';
import {
  requireDigest,
  smallBytesMax,
  type BlobReader,
  type BlobStore,
  type BlobWriter,
  type StoredBlob,
} from './blob-store.js';

const readBytes = 64 * 1024;

/** Keeps blobs in memory and forgets them on close: for tests and `--in-memory`. */
export class MemoryBlobStore implements BlobStore {
  readonly #blobs: Map<string, Buffer>;
  readonly #guards = new BlobGuards();

  /** A simulated disk gives the same blobs to the store that is opened after a crash. */
  constructor(blobs = new Map<string, Buffer>()) {
    this.#blobs = blobs;
  }

  begin(): BlobWriter {
    return new MemoryBlobWriter(this.#blobs, this.#guards);
  }

  async read(digest: string, start = 0, end = Infinity): Promise<BlobReader | undefined> {
    requireDigest(digest);
    const release = await this.#guards.hold(digest);
    const bytes = this.#blobs.get(digest);
    if (bytes !== undefined) return new MemoryBlobReader(bytes, start, Math.min(end, bytes.length), release);
    release();
    return undefined;
  }

  hold(digest: string): Promise<() => void> {
    requireDigest(digest);
    return this.#guards.hold(digest);
  }

  has(digest: string): Promise<boolean> {
    requireDigest(digest);
    return Promise.resolve(this.#blobs.has(digest));
  }

  async remove(digests: Iterable<string>): Promise<string[]> {
    const left: string[] = [];
    for (const digest of digests) {
      requireDigest(digest);
      const removal = async (): Promise<void> => void this.#blobs.delete(digest);
      if (!(await this.#guards.remove(digest, removal))) left.push(digest);
    }
    return left;
  }

  async *list(): AsyncIterable<string> {
    yield* [...this.#blobs.keys()];
  }

  close(): Promise<void> {
    this.#blobs.clear();
    return Promise.resolve();
  }
}

class MemoryBlobWriter implements BlobWriter {
  readonly #blobs: Map<string, Buffer>;
  readonly #guards: BlobGuards;
  #chunks: Buffer[] = [];
  #open = true;

  constructor(blobs: Map<string, Buffer>, guards: BlobGuards) {
    this.#blobs = blobs;
    this.#guards = guards;
  }

  async write(chunk: Buffer): Promise<void> {
    if (!this.#open) throw new Error('the blob is already finished or aborted');
    this.#chunks.push(Buffer.from(chunk));
  }

  async finish(): Promise<StoredBlob> {
    if (!this.#open) throw new Error('the blob is already finished or aborted');
    this.#open = false;
    const bytes = Buffer.concat(this.#chunks);
    const info = hashOf(bytes);
    this.#chunks = [];
    if (bytes.length <= smallBytesMax) return { ...info, small: bytes, release: () => undefined };
    const release = await this.#guards.hold(info.digest);
    if (!this.#blobs.has(info.digest)) this.#blobs.set(info.digest, bytes);
    return { ...info, small: undefined, release };
  }

  abort(): Promise<void> {
    this.#open = false;
    this.#chunks = [];
    return Promise.resolve();
  }
}

class MemoryBlobReader implements BlobReader {
  readonly length: number;

  constructor(
    readonly bytes: Buffer,
    readonly start: number,
    readonly end: number,
    readonly release: () => void,
  ) {
    this.length = bytes.length;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (let at = this.start; at < this.end; at += readBytes) {
        yield this.bytes.subarray(at, Math.min(at + readBytes, this.end));
      }
    } finally {
      this.release();
    }
  }

  close(): Promise<void> {
    this.release();
    return Promise.resolve();
  }
}
