import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/** Bytes to add to a hash, the wish to have its value, or both. */
export interface HashRequest {
  id: number;
  shared: SharedArrayBuffer | undefined;
  length: number;
  end: boolean;
}

export interface HashReply {
  id: number;
  digest?: string;
  md5?: Uint8Array;
}

/** SHA-256 and MD5 of bytes that are given piece by piece, one at a time. */
export interface ThreadHash {
  /** The bytes must lie in shared memory from its start on, and stay as they are until this resolves. */
  update(bytes: Buffer): Promise<void>;
  /** Ends the hash; must also be called when nobody wants the value. */
  end(): Promise<{ digest: string; md5: Buffer }>;
}

const threadsMax = 4;

/**
 * Hashing costs more than all the rest of an upload (3 ms a megabyte, two thirds of it MD5), so it is done beside the
 * serving thread, in place: the buffers are shared memory. Threads start with the first use.
 */
export class HashThreads {
  readonly #threads: HashThread[] = [];
  readonly #size: number;
  #ids = 0;

  constructor(size: number = Math.min(threadsMax, Math.max(1, availableParallelism() - 1))) {
    this.#size = size;
  }

  begin(): ThreadHash {
    const id = this.#ids++;
    const thread = this.#leastBusy();
    thread.hashes++;
    return {
      update: async (bytes) => {
        await thread.ask({ id, shared: bytes.buffer as SharedArrayBuffer, length: bytes.length, end: false });
      },
      end: async () => {
        thread.hashes--;
        const { digest, md5 } = await thread.ask({ id, shared: undefined, length: 0, end: true });
        return { digest: digest!, md5: Buffer.from(md5!) };
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.splice(0).map((thread) => thread.stop()));
  }

  #leastBusy(): HashThread {
    for (const dead of this.#threads.filter((thread) => thread.failure !== undefined)) {
      this.#threads.splice(this.#threads.indexOf(dead), 1);
    }
    const idle = this.#threads.find((thread) => thread.hashes === 0);
    if (idle !== undefined) return idle;
    if (this.#threads.length < this.#size) this.#threads.push(new HashThread());
    return this.#threads.reduce((least, thread) => (thread.hashes < least.hashes ? thread : least));
  }
}

interface Asker {
  resolve: (reply: HashReply) => void;
  reject: (error: Error) => void;
}

class HashThread {
  /** How many hashes have begun and not ended. */
  hashes = 0;
  failure: Error | undefined;
  // Without the flags of the process, of which some (`--input-type`) keep a thread from starting.
  readonly #worker = new Worker(new URL('./hash-worker.js', import.meta.url), {
    name: 'tuffet-hash',
    execArgv: [],
  });
  /** By the id of the hash, of which every one waits for at most one reply. */
  readonly #askers = new Map<number, Asker>();

  constructor() {
    this.#worker.unref();
    this.#worker.on('message', (reply: HashReply) => this.#settle(reply.id)?.resolve(reply));
    this.#worker.on('error', (error) => this.#fail(error as Error));
    this.#worker.on('exit', () => this.#fail(new Error('the hashing thread has ended')));
  }

  ask(request: HashRequest): Promise<HashReply> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    return new Promise((resolve, reject) => {
      // A process with nothing else to do may end when the thread is idle, not sooner.
      if (this.#askers.size === 0) this.#worker.ref();
      this.#askers.set(request.id, { resolve, reject });
      this.#worker.postMessage(request);
    });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
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
