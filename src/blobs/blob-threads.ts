import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/** Bytes for the end of a file and for its hashes, the wish to have the hashes, or both. */
export interface PieceRequest {
  id: number;
  /** The buffer comes back with the reply; `length` of its bytes, from its start on, are meant. */
  buffer: ArrayBuffer | undefined;
  length: number;
  /** Of the file. */
  descriptor: number;
  end: boolean;
}

export interface PieceReply {
  id: number;
  buffer: ArrayBuffer | undefined;
  hashed: { digest: string; md5: Uint8Array } | undefined;
  failure: { message: string; code: string | undefined } | undefined;
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
  #ids = 0;

  constructor(size: number = Math.min(threadsMax, Math.max(threadsMin, availableParallelism() - 1))) {
    this.#size = size;
  }

  begin(): ThreadFile {
    const id = this.#ids++;
    const thread = this.#leastBusy();
    thread.files++;
    const send = (
      descriptor: number,
      { buffer }: Buffer,
      length: number,
      end: boolean,
    ): Promise<PieceReply> => thread.ask({ id, buffer: buffer as ArrayBuffer, length, descriptor, end });
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
        const request = { id, buffer: undefined, length: 0, descriptor: -1, end: true };
        await thread.ask(request).catch(() => undefined);
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.splice(0).map((thread) => thread.stop()));
  }

  #leastBusy(): BlobThread {
    for (const dead of this.#threads.filter((thread) => thread.failure !== undefined)) {
      this.#threads.splice(this.#threads.indexOf(dead), 1);
    }
    const idle = this.#threads.find((thread) => thread.files === 0);
    if (idle !== undefined) return idle;
    if (this.#threads.length < this.#size) this.#threads.push(new BlobThread());
    return this.#threads.reduce((least, thread) => (thread.files < least.files ? thread : least));
  }
}

interface Asker {
  resolve: (reply: PieceReply) => void;
  reject: (error: Error) => void;
}

class BlobThread {
  /** How many files have begun and not ended. */
  files = 0;
  failure: Error | undefined;
  // Without the flags of the process, of which some (`--input-type`) keep a thread from starting.
  readonly #worker = new Worker(new URL('./blob-worker.js', import.meta.url), {
    name: 'tuffet-blobs',
    execArgv: [],
  });
  /** By the id of the file, of which every one waits for at most one reply. */
  readonly #askers = new Map<number, Asker>();

  constructor() {
    this.#worker.unref();
    this.#worker.on('message', (reply: PieceReply) => this.#hear(reply));
    this.#worker.on('error', (error) => this.#fail(error as Error));
    this.#worker.on('exit', () => this.#fail(new Error('the thread that writes blobs has ended')));
  }

  ask(request: PieceRequest): Promise<PieceReply> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    return new Promise((resolve, reject) => {
      // A process with nothing else to do may end when the thread is idle, not sooner.
      if (this.#askers.size === 0) this.#worker.ref();
      this.#askers.set(request.id, { resolve, reject });
      this.#worker.postMessage(request, request.buffer === undefined ? [] : [request.buffer]);
    });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #hear(reply: PieceReply): void {
    const asker = this.#settle(reply.id);
    if (reply.failure === undefined) asker?.resolve(reply);
    else asker?.reject(Object.assign(new Error(reply.failure.message), { code: reply.failure.code }));
  }

  #settle(id: number): Asker | undefined {
    const asker = this.#askers.get(id);
    this.#askers.delete(id);
    if (this.#askers.size === 0) this.#worker.unref();
    return asker;
  }

  #fail(error: Error): void {
    this.failure ??= error;
    for (const id of [...this.#askers.keys()]) this.#settle(id)?.reject(this.failure);
  }
}
