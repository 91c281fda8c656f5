import { asBytes } from '../base/bytes.js';
import type { Runtime } from '../base/runtime.js';
import { failedCommit } from '../base/storage-errors.js';
import type { Bytes, Store, Write } from './store.js';

/** How long to wait before an environment that could not be opened, or a commit in doubt, is looked at again. */
const retryMs = 250;

/** What carries batches out. */
export interface WriterHost {
  /** Commits all of the writes or none. Rejects with what the library says. */
  commit(writes: readonly Write[]): Promise<void>;
  /** Whether nothing can be read or written any more before the environment is opened again. */
  isBroken(): boolean;
  /** The number of the try is given. */
  reopen(attempt: number): Promise<void>;
  /** It has been opened again, and nothing is written until others have had the time to do so too. */
  reopened(): Promise<void>;
  get(key: Bytes): Bytes | undefined;
}

type Batch = readonly Write[];

/**
 * Passes batches to LMDB one at a time, and ensures that the outcome of a failed commit is known.
 *
 * A transaction whose pages could not be written or synced is dropped by LMDB: the meta pages don't name them, the next
 * transaction writes every page that it names itself, and so nothing depends on what the failed sync has left on the disk. But
 * when the meta page could not be written, neither LMDB nor we know which one is on the disk. LMDB then gives the whole
 * environment up; it is opened again, and takes no batch before an empty commit has gone well, which puts what is
 * read now on the disk for sure. A batch that turns out to be there is a success.
 *
 * One at a time, because the library never answers for a batch that it begins in an environment that LMDB has given up.
 * Batches that come meanwhile share the next transaction.
 */
export class LmdbWriter {
  #running: Promise<void> | undefined;
  #next: { batches: Batch[]; done: Promise<void> } | undefined;
  #verified = true;
  #closed = false;

  constructor(
    private readonly host: WriterHost,
    private readonly runtime: Runtime,
  ) {}

  write(batch: Batch): Promise<void> {
    if (this.#next !== undefined) {
      this.#next.batches.push(batch);
      return this.#next.done;
    }
    if (this.#running === undefined) return this.#start(batch);
    const batches = [batch];
    const done = this.#running.then(() => {
      this.#next = undefined;
      return this.#start(batches.flat());
    });
    this.#next = { batches, done };
    return done;
  }

  /** Resolves when nothing is on its way; what is in doubt then stays so. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#running !== undefined) await (this.#next?.done.catch(() => undefined) ?? this.#running);
  }

  #start(batch: Batch): Promise<void> {
    const done = this.#write(batch);
    const running: Promise<void> = done
      .catch(() => undefined)
      .then(() => {
        if (this.#running === running) this.#running = undefined;
      });
    this.#running = running;
    return done;
  }

  async #write(batch: Batch): Promise<void> {
    try {
      if (!this.#verified) await this.#verify();
      await this.host.commit(batch);
    } catch (error) {
      if (!this.host.isBroken()) throw failedCommit(error);
      const isStored = await this.#settle(batch);
      await this.host.reopened();
      if (!isStored) throw failedCommit(error);
    }
  }

  /** Opens the environment again; tells whether the batch is there, and on the disk. */
  async #settle(batch: Batch): Promise<boolean> {
    for (;;) {
      this.#verified = false;
      await this.#reopen();
      const isStored = this.#isStored(batch);
      if (isStored === undefined) {
        await this.#pause();
        continue;
      }
      const isSure = await this.#verify().then(
        () => true,
        () => false,
      );
      if (!isSure && this.host.isBroken()) await this.#reopen();
      // Readers see it already: it must not be called a failure, nor a success before it is one.
      if (!isStored || isSure) return isStored;
      await this.#pause();
    }
  }

  async #verify(): Promise<void> {
    for (const value of [asBytes('1'), undefined]) await this.host.commit([{ key: probeKey, value }]);
    this.#verified = true;
  }

  async #reopen(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.host.reopen(attempt);
        if (!this.host.isBroken()) return;
      } catch (error) {
        if (this.#closed) throw failedCommit(error);
      }
      await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    if (this.#closed) throw failedCommit(new Error('the store was closed'));
    await this.runtime.sleep(retryMs);
  }

  /** Undefined where nothing can be read again. A batch is there as a whole or not at all. */
  #isStored(batch: Batch): boolean | undefined {
    const last = new Map(batch.map(({ key, value }) => [key, value]));
    for (const [key, value] of last) {
      try {
        if (this.host.get(key) !== value) return false;
      } catch {
        if (this.host.isBroken()) return undefined;
        // A record that is damaged tells nothing; the others do. Where none does, the batch may be lost, which is an error.
        last.delete(key);
      }
    }
    return last.size > 0 || batch.length === 0;
  }
}

/** Below every other key. */
export const probeKey = asBytes('\0');

/**
 * A compact copy has an empty list of free pages. The library breaks off when the first commit to such a store frees so
 * many pages that their list takes a page of its own; so the list gets its first entries from commits that free few.
 */
export async function primeCopy(copy: Pick<Store, 'write'>): Promise<void> {
  for (const value of [asBytes('1'), asBytes('2'), undefined])
    await copy.write([{ key: probeKey, value }]).flushed;
}
