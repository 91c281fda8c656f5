import { rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { hashOf } from './blob-hash.js';
import { smallBytesMax, type BlobInfo, type BlobWriter, type StoredBlob } from './blob-store.js';
import type { HashThreads, ThreadHash } from './hash-threads.js';
import { GrowingFile, type OpenFiles } from './open-files.js';
import type { SharedBuffers } from './shared-buffers.js';

/** What a writer needs of its store. */
export interface BlobPlaces {
  readonly files: OpenFiles;
  readonly hashes: HashThreads;
  readonly buffers: SharedBuffers;
  temporaryPath(): string;
  /** The lease on a blob and whether its bytes are there already. */
  claim(digest: string): Promise<{ release: () => void; exists: boolean }>;
  /** Gives a synced file its place. Resolves when the place is durable. */
  place(file: string, digest: string): Promise<void>;
  /** Makes sure of a place that was found taken. */
  confirm(digest: string): Promise<void>;
}

/** What a blob has once it turns out not to be small. */
interface Large {
  readonly file: GrowingFile;
  readonly hash: ThreadHash;
}

/**
 * Bytes are copied into buffers of the writer's own, two at most, one that fills and one on its way: so that memory is
 * bounded by their number and not by how finely a client cuts its chunks. The buffers of a large blob lie in shared
 * memory, where the hashing thread reads them.
 */
export class FileBlobWriter implements BlobWriter {
  readonly #places: BlobPlaces;
  #large: Large | undefined;
  #length = 0;
  #buffer: Buffer = Buffer.alloc(0);
  #filled = 0;
  #spare: Buffer | undefined;
  #flight: Promise<void> = Promise.resolve();
  #state: 'idle' | 'writing' | 'finishing' | 'over' = 'idle';

  constructor(places: BlobPlaces) {
    this.#places = places;
  }

  async write(chunk: Buffer): Promise<void> {
    this.#requireIdle();
    this.#state = 'writing';
    this.#length += chunk.length;
    for (let at = 0; at < chunk.length;) {
      if (this.#filled === this.#buffer.length) await this.#makeRoom(chunk.length - at);
      this.#requireNotAborted();
      const copied = chunk.copy(this.#buffer, this.#filled, at);
      this.#filled += copied;
      at += copied;
    }
    this.#state = 'idle';
  }

  async finish(): Promise<StoredBlob> {
    this.#requireIdle();
    this.#state = 'finishing';
    const rest = this.#buffer.subarray(0, this.#filled);
    if (this.#large === undefined) return { ...hashOf(rest), small: rest, release: () => undefined };
    try {
      await this.#send(rest);
      const hashed = await this.#endHash();
      return await this.#store(this.#large.file, { ...hashed, length: this.#length });
    } catch (error) {
      await this.#discard();
      throw error;
    }
  }

  async abort(): Promise<void> {
    if (this.#state === 'finishing' || this.#state === 'over') return;
    this.#state = 'over';
    await this.#endHash().catch(() => undefined);
    await this.#discard();
  }

  /** Also gives the buffers back: nobody uses them any more. */
  async #endHash(): Promise<{ digest: string; md5: Buffer }> {
    const flight = await Promise.allSettled([this.#flight]);
    const hashed = await this.#large?.hash.end();
    if (flight[0].status === 'rejected') throw flight[0].reason;
    if (hashed === undefined) throw new Error('a small blob has no hash yet');
    this.#places.buffers.give(this.#buffer);
    if (this.#spare !== undefined) this.#places.buffers.give(this.#spare);
    return hashed;
  }

  async #store(file: GrowingFile, info: BlobInfo): Promise<StoredBlob> {
    const { release, exists } = await this.#places.claim(info.digest);
    try {
      if (exists) {
        await this.#discard();
        await this.#places.confirm(info.digest);
      } else {
        await this.#places.files.use(file, (handle) => handle.datasync());
        await this.#places.files.close(file);
        await this.#places.place(file.path, info.digest);
      }
      return { ...info, small: undefined, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #makeRoom(wanted: number): Promise<void> {
    if (this.#large !== undefined) {
      await this.#send(this.#buffer);
      this.#filled = 0;
    } else if (this.#length <= smallBytesMax) {
      const grown = Math.max(2 * this.#buffer.length, this.#filled + wanted);
      this.#move(Buffer.allocUnsafeSlow(Math.min(grown, smallBytesMax)));
    } else {
      this.#large = {
        file: new GrowingFile(this.#places.temporaryPath()),
        hash: this.#places.hashes.begin(),
      };
      this.#move(this.#places.buffers.take());
    }
  }

  #move(larger: Buffer): void {
    this.#buffer.copy(larger, 0, 0, this.#filled);
    this.#buffer = larger;
  }

  /** Waits for the bytes before these, then sends these on their way and turns to the other buffer. */
  async #send(bytes: Buffer): Promise<void> {
    await this.#flight;
    this.#requireNotAborted();
    const { file, hash } = this.#large!;
    this.#flight = both(
      this.#places.files.use(file, (handle) => appendAll(handle, bytes)),
      hash.update(bytes),
    );
    // Whoever awaits it next hears of a failure.
    this.#flight.catch(() => undefined);
    const free = this.#spare ?? this.#places.buffers.take();
    this.#spare = this.#buffer;
    this.#buffer = free;
  }

  async #discard(): Promise<void> {
    if (this.#large === undefined) return;
    await this.#places.files.close(this.#large.file);
    await rm(this.#large.file.path, { force: true });
  }

  #requireIdle(): void {
    if (this.#state === 'writing') throw new Error('a write to this blob is still under way, or has failed');
    if (this.#state !== 'idle') throw new Error('the blob is already finished or aborted');
  }

  #requireNotAborted(): void {
    if (this.#state === 'over') throw new Error('the blob was aborted');
  }
}

/** Unlike `Promise.all`, waits for the other also when one has failed: nobody may still be using the bytes. */
async function both(one: Promise<void>, other: Promise<void>): Promise<void> {
  for (const result of await Promise.allSettled([one, other])) {
    if (result.status === 'rejected') throw result.reason;
  }
}

async function appendAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    at += (await handle.write(bytes, at, bytes.length - at)).bytesWritten;
  }
}
