import type { FileHandle } from 'node:fs/promises';
import { pieceBuffers, pieceBytes } from '../base/piece-buffers.js';
import type { BlobCheck } from './blob-checks.js';
import { BlobDamage, type BlobReader } from './blob-store.js';

/** What one read brings at most. */
export const readBytes = pieceBytes;

/** Reads one chunk ahead of the one that is being sent; a client that takes no more holds these two in memory. */
export class FileBlobReader implements BlobReader {
  readonly length: number;
  readonly #handle: FileHandle;
  readonly #start: number;
  readonly #end: number;
  readonly #release: () => void;
  #closing: Promise<void> | undefined;

  constructor(
    handle: FileHandle,
    length: number,
    start: number,
    end: number,
    release: () => void,
    /** Only for one that reads all bytes. */
    private readonly check?: BlobCheck,
  ) {
    this.length = length;
    this.#handle = handle;
    this.#start = start;
    this.#end = Math.min(end, length);
    this.#release = release;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    let at = this.#start;
    let next = at < this.#end ? this.#read(at) : undefined;
    try {
      if (next === undefined) this.check?.end();
      while (next !== undefined) {
        const chunk = await next;
        at += chunk.length;
        next = at < this.#end ? this.#read(at) : undefined;
        // Awaited later; until then a rejection must not be reported as unhandled.
        next?.catch(() => undefined);
        this.check?.update(chunk);
        if (next === undefined) this.check?.end();
        yield chunk;
      }
    } finally {
      await next?.catch(() => undefined);
      await this.close();
    }
  }

  async #read(at: number): Promise<Buffer> {
    const chunk = pieceBuffers.take(Math.min(readBytes, this.#end - at));
    const { bytesRead } = await this.#handle.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) throw new BlobDamage('its file has become shorter');
    return bytesRead === chunk.length ? chunk : chunk.subarray(0, bytesRead);
  }

  close(): Promise<void> {
    this.#closing ??= this.#handle.close().finally(this.#release);
    return this.#closing;
  }
}

/** Reads a blob of one chunk at once, so that damage is known before anything is given out, and gives a part of it. */
export async function readAhead(reader: FileBlobReader, start: number, end: number): Promise<BlobReader> {
  const chunks: Buffer[] = [];
  for await (const chunk of reader) chunks.push(chunk);
  const wanted = Buffer.concat(chunks).subarray(start, end);
  return {
    length: reader.length,
    async *[Symbol.asyncIterator]() {
      if (wanted.length > 0) yield wanted;
    },
    close: () => Promise.resolve(),
  };
}
