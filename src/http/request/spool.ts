import fs from 'node:fs';
import path from 'node:path';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Bytes } from '../../base/bytes.js';
import type { Runtime } from '../../base/runtime.js';
import { storageRefusal } from '../../base/storage-errors.js';

/**
 * A file for bytes that are too many for the memory and needed only while one request lasts. It has no name from the
 * start, so it is gone with the process, whatever happens.
 */
export class Spool {
  #length = 0;
  #pending: Bytes[] = [];
  #pendingBytes = 0;
  /** Text could not be written; from then on it stays in memory. */
  #isFull = false;

  private constructor(private readonly file: fs.promises.FileHandle) {}

  static async open(folder: string, runtime: Runtime): Promise<Spool> {
    const name = path.join(folder, `spool-${runtime.randomHex(8)}`);
    const file = await fs.promises.open(name, 'wx+', 0o600);
    await fs.promises.unlink(name);
    return new Spool(file);
  }

  get length(): number {
    return this.#length + this.#pendingBytes;
  }

  /** Takes a whole stream. */
  async fill(source: Readable, onChunk: (chunk: Buffer) => Promise<void>): Promise<void> {
    const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
      for await (const chunk of chunks) {
        await onChunk(chunk);
        await this.#append(chunk);
      }
    };
    await pipeline(source, write);
  }

  /**
   * Adds text, which is written when there is enough of it. It tells what became of documents that may be stored
   * already, so a full disk is no reason to lose it.
   */
  async add(text: Bytes): Promise<void> {
    this.#pending.push(text);
    this.#pendingBytes += text.length;
    if (this.#pendingBytes >= chunkBytes && !this.#isFull) await this.#flush();
  }

  async #flush(): Promise<void> {
    try {
      await this.#append(Buffer.from(this.#pending.join(''), 'latin1'));
      this.#pending = [];
      this.#pendingBytes = 0;
    } catch (error) {
      if (storageRefusal(error) === undefined) throw error;
      this.#isFull = true;
    }
  }

  /** Its contents from the beginning. The chunks share one buffer: each is valid until the next is asked for. */
  async *chunks(): AsyncGenerator<Buffer> {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    for (let at = 0; at < this.#length;) {
      const { bytesRead } = await this.file.read(buffer, 0, chunkBytes, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Sends its contents as the body of an answer, as fast as the client takes them. */
  async sendTo(response: ServerResponse): Promise<void> {
    await pipeline(
      async function* (this: Spool) {
        for await (const chunk of this.chunks()) yield Buffer.from(chunk);
        yield Buffer.from(this.#pending.join(''), 'latin1');
      }.bind(this),
      response,
    );
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  async #append(bytes: Buffer): Promise<void> {
    // A disk that is nearly full takes a part, and says no only when it is asked to take the rest.
    for (let at = 0; at < bytes.length;) {
      at += (await this.file.write(bytes, at, bytes.length - at, this.#length + at)).bytesWritten;
    }
    this.#length += bytes.length;
  }
}

const chunkBytes = 256 * 1024;
