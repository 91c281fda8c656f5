import { availableParallelism } from 'node:os';
import { RpcThread } from '../base/rpc-thread.js';

/** Bytes for the end of a file and for its hashes, the wish to have the hashes, or both. */
export interface PieceRequest {
  /** By its number. */
  file: number;
  /** The buffer comes back with the answer; `length` of its bytes, from its start on, are meant. */
  buffer: ArrayBuffer | undefined;
  length: number;
  descriptor: number;
  end: boolean;
}

export interface PieceAnswer {
  buffer: ArrayBuffer | undefined;
  hashed: { digest: string; md5: Uint8Array } | undefined;
}

export interface Hashed {
  digest: string;
  md5: Buffer;
}

/** A file that grows at its end, with the SHA-256 and MD5 of all its bytes. One call at a time. */
export interface ThreadFile {
  /** Takes the buffer away. Resolves with it when its first `length` bytes are written and hashed. */
  append(descriptor: number, buffer: Buffer, length: number): Promise<Buffer>;
  /** The last of the bytes, and what has become of all. */
  finish(descriptor: number, buffer: Buffer, length: number): Promise<{ buffer: Buffer; hashed: Hashed }>;
  /** To be called unless it was finished. Never fails. */
  abort(): Promise<void>;
}

/** Two at least: while one waits for the disk, the other can hash. */
const threadsMin = 2;
const threadsMax = 4;

/**
 * Hashing costs more than all the rest of an upload (3 ms a megabyte, three quarters of it MD5), so it is done beside
 * the serving thread. The thread that hashes a piece also writes it: every handing over from one thread to another
 * costs more than writing the piece to the system's cache. Threads start with the first use.
 */
export class BlobThreads {
  readonly #threads: BlobThread[] = [];
  readonly #size: number;
  #files = 0;

  constructor(size: number = Math.min(threadsMax, Math.max(threadsMin, availableParallelism() - 1))) {
    this.#size = size;
  }

  begin(): ThreadFile {
    const file = this.#files++;
    const thread = this.#leastBusy();
    thread.files++;
    const send = (descriptor: number, bytes: Buffer, length: number, end: boolean): Promise<PieceAnswer> => {
      const buffer = bytes.buffer as ArrayBuffer;
      return thread.call({ file, buffer, length, descriptor, end }, { transfer: [buffer] });
    };
    return {
      append: async (descriptor, buffer, length) =>
        Buffer.from((await send(descriptor, buffer, length, false)).buffer!),
      finish: async (descriptor, buffer, length) => {
        const { buffer: back, hashed } = await send(descriptor, buffer, length, true);
        thread.files--;
        const { digest, md5 } = hashed!;
        return { buffer: Buffer.from(back!), hashed: { digest, md5: Buffer.from(md5) } };
      },
      abort: async () => {
        thread.files--;
        const request = { file, buffer: undefined, length: 0, descriptor: -1, end: true };
        await thread.call(request).catch(() => undefined);
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.splice(0).map((thread) => thread.stop()));
  }

  #leastBusy(): BlobThread {
    for (const dead of this.#threads.filter((thread) => thread.hasEnded)) {
      this.#threads.splice(this.#threads.indexOf(dead), 1);
    }
    const idle = this.#threads.find((thread) => thread.files === 0);
    if (idle !== undefined) return idle;
    if (this.#threads.length < this.#size) this.#threads.push(new BlobThread());
    return this.#threads.reduce((least, thread) => (thread.files < least.files ? thread : least));
  }
}

class BlobThread extends RpcThread<PieceRequest, PieceAnswer> {
  /** How many files have begun and not ended. */
  files = 0;

  constructor() {
    super(new URL('./blob-worker.js', import.meta.url), { name: 'tuffet-blobs' });
  }
}
