import { rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { hashOf } from './blob-hash.js';
import { smallBytesMax, type BlobInfo, type BlobWriter, type StoredBlob } from './blob-store.js';
import type { BlobThreads, Hashed, ThreadFile } from './blob-threads.js';
import { GrowingFile, type OpenFiles } from './open-files.js';
import type { UploadBuffers, WriteBuffers } from './write-buffers.js';

/** What a writer needs of its store. */
export interface BlobPlaces {
  readonly files: OpenFiles;
  readonly threads: BlobThreads;
  readonly buffers: WriteBuffers;
  temporaryPath(): string;
  /** The lease on a blob, and whether its bytes are there already, complete and durable. */
  claim(digest: string): Promise<{ release: () => void; exists: boolean }>;
  /** Gives a file its place. Resolves when its bytes and the place are durable. */
  place(handle: FileHandle, file: string, digest: string): Promise<void>;
}

/** What a blob has once it turns out not to be small. */
interface Large {
  readonly file: GrowingFile;
  readonly thread: ThreadFile;
  readonly buffers: UploadBuffers;
}

/**
 * Bytes are copied into buffers of the writer's own, two at most, one that fills and one on its way: so that memory is
 * bounded by their number and not by how finely a client cuts its chunks. A full one is handed to the thread that
 * writes and hashes it, and comes back from there.
 */
export class FileBlobWriter implements BlobWriter {
  readonly #places: BlobPlaces;
  #large: Large | undefined;
  #length = 0;
  #buffer: Buffer = Buffer.alloc(0);
  #filled = 0;
  /** The one that is not being filled, when it is back; undefined at first. */
  #flight: Promise<Buffer | undefined> = Promise.resolve(undefined);
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
    const large = this.#large;
    if (large === undefined) {
      const bytes = this.#buffer.subarray(0, this.#filled);
      return { ...hashOf(bytes), small: bytes, release: () => undefined };
    }
    let hashed: Hashed;
    try {
      hashed = await this.#sendLast(large);
    } catch (error) {
      await this.#giveUp(large);
      throw error;
    }
    try {
      return await this.#store(large.file, { ...hashed, length: this.#length });
    } catch (error) {
      await this.#discard(large.file);
      throw error;
    }
  }

  async abort(): Promise<void> {
    if (this.#state === 'finishing' || this.#state === 'over') return;
    this.#state = 'over';
    await this.#flight.catch(() => undefined);
    if (this.#large !== undefined) await this.#giveUp(this.#large);
  }

  async #makeRoom(wanted: number): Promise<void> {
    if (this.#large !== undefined) {
      await this.#send(this.#large);
      this.#filled = 0;
    } else if (this.#length <= smallBytesMax) {
      const grown = Math.max(2 * this.#buffer.length, this.#filled + wanted);
      this.#move(Buffer.allocUnsafeSlow(Math.min(grown, smallBytesMax)));
    } else {
      const buffers = this.#places.buffers.begin();
      const file = new GrowingFile(this.#places.temporaryPath());
      this.#large = { file, thread: this.#places.threads.begin(), buffers };
      // Opened while the first bytes come; a failure is thrown by the writes.
      this.#flight = this.#places.files.use(file, () => Promise.resolve(undefined));
      this.#flight.catch(() => undefined);
      this.#move(buffers.take());
    }
  }

  #move(larger: Buffer): void {
    this.#buffer.copy(larger, 0, 0, this.#filled);
    this.#buffer = larger;
  }

  /** Waits for the bytes before these, then sends these on their way and turns to the other buffer. */
  async #send({ file, thread, buffers }: Large): Promise<void> {
    const free = (await this.#flight) ?? buffers.take();
    this.#requireNotAborted();
    const full = this.#buffer;
    this.#flight = this.#places.files.use(file, ({ fd }) => thread.append(fd, full, full.length));
    // A failure is reported to the next caller that awaits it.
    this.#flight.catch(() => undefined);
    this.#buffer = free;
  }

  async #sendLast({ file, thread, buffers }: Large): Promise<Hashed> {
    const free = await this.#flight;
    const { buffer, hashed } = await this.#places.files.use(file, ({ fd }) =>
      thread.finish(fd, this.#buffer, this.#filled),
    );
    buffers.give(buffer);
    if (free !== undefined) buffers.give(free);
    buffers.end();
    return hashed;
  }

  async #store(file: GrowingFile, info: BlobInfo): Promise<StoredBlob> {
    const { files } = this.#places;
    const { release, exists } = await this.#places.claim(info.digest);
    try {
      if (exists) await this.#discard(file);
      else {
        await files.use(file, (handle) => this.#places.place(handle, file.path, info.digest));
        // All is on disk: there is nothing that closing could still fail.
        files.close(file).catch(() => undefined);
      }
      return { ...info, small: undefined, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #giveUp({ file, thread, buffers }: Large): Promise<void> {
    await thread.abort();
    buffers.end();
    await this.#discard(file);
  }

  async #discard(file: GrowingFile): Promise<void> {
    await this.#places.files.close(file);
    await rm(file.path, { force: true });
  }

  #requireIdle(): void {
    if (this.#state === 'writing') throw new Error('a write to this blob is still under way, or has failed');
    if (this.#state !== 'idle') throw new Error('the blob is already finished or aborted');
  }

  #requireNotAborted(): void {
    if (this.#state === 'over') throw new Error('the blob was aborted');
  }
}
