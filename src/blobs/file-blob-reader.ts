import type { FileHandle } from 'node:fs/promises';
import type { BlobReader } from './blob-store.js';

/** What one read brings at most. */
const readBytes = 256 * 1024;

/** Reads ahead by nothing: a client that takes no more holds one chunk in memory. */
export class FileBlobReader implements BlobReader {
  readonly length: number;
  readonly #handle: FileHandle;
  readonly #start: number;
  readonly #end: number;
  readonly #release: () => void;
  #closing: Promise<void> | undefined;

  constructor(handle: FileHandle, length: number, start: number, end: number, release: () => void) {
    this.length = length;
    this.#handle = handle;
    this.#start = start;
    this.#end = Math.min(end, length);
    this.#release = release;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (let at = this.#start; at < this.#end;) {
        const chunk = Buffer.allocUnsafeSlow(Math.min(readBytes, this.#end - at));
        const { bytesRead } = await this.#handle.read(chunk, 0, chunk.length, at);
        if (bytesRead === 0) throw new Error('a blob is damaged: its file has become shorter');
        at += bytesRead;
        yield bytesRead === chunk.length ? chunk : chunk.subarray(0, bytesRead);
      }
    } finally {
      await this.close();
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#handle.close().finally(this.#release);
    return this.#closing;
  }
}
