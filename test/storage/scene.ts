import { asBytes } from '../../src/base/bytes.js';
import { SystemRuntime, type Timer } from '../../src/base/runtime.js';
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { GroupCommit } from '../../src/storage/group-commit.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { Overlay } from '../../src/storage/overlay.js';
import type { Commit, Write } from '../../src/storage/store.js';

/** A disk whose batches end when the test says so, well or badly. A batch can be read only when it is on disk. */
export class SteeredStore extends MemoryStore {
  readonly batches: { keys: string[]; finish: () => void; fail: () => void }[] = [];

  /** Makes the next call of `write` throw, before there is any promise. */
  throwsNext = false;

  override write(batch: readonly Write[]): Commit {
    if (this.throwsNext) {
      this.throwsNext = false;
      throw new Error('the store is closed');
    }
    const done = new Promise<void>((resolve, reject) => {
      const finish = (): void => {
        void super.write(batch);
        resolve();
      };
      const fail = (): void => reject(new Error('the disk is full'));
      this.batches.push({ keys: batch.map(({ key }) => key), finish, fail });
    });
    return { committed: done, flushed: done };
  }
}

/** A clock that stands still until it is set, and timers that fire when the test says so. */
export class SteeredRuntime extends SystemRuntime {
  readonly #timers = new Set<() => void>();

  constructor(private readonly clock: () => number = () => 0) {
    super();
  }

  override setTimer(work: () => void): Timer {
    this.#timers.add(work);
    return { cancel: () => void this.#timers.delete(work) };
  }

  /** Fires the timers that were set. */
  elapse(): void {
    for (const work of this.#timers) {
      this.#timers.delete(work);
      work();
    }
  }

  override monotonicMs(): number {
    return this.clock();
  }
}

/** Steps that put one key each, and what became of them in the order in which it did. */
export class Scene {
  readonly store = new SteeredStore();
  readonly overlay = new Overlay(() => this.store);
  readonly sealed: string[][] = [];
  readonly events: string[] = [];
  /** What the clock shows. */
  now = 0;
  readonly runtime = new SteeredRuntime(() => this.now);
  readonly commits = new GroupCommit(
    () => this.store,
    this.overlay,
    (writes) => {
      const keys = writes.map(({ key }) => key);
      this.sealed.push(keys);
      return () => this.events.push(`told of ${keys.join()}`);
    },
    this.runtime,
  );

  put(key: string, value = '1'): Promise<void> {
    const outcome = this.commits.submit(() => {
      this.events.push(`ran ${key}`);
      this.overlay.put(asBytes(key), asBytes(value));
    });
    return outcome.then(
      () => void this.events.push(`saved ${key}`),
      (error: Error) => void this.events.push(`lost ${key}: ${error.message}`),
    );
  }

  /** Waits until the store has been handed so many batches. */
  async batch(count: number): Promise<SteeredStore['batches'][number]> {
    for (let turns = 0; this.store.batches.length < count; turns++) {
      assert.ok(turns < 1_000, `batch ${count} never came`);
      await nextTurn();
    }
    return this.store.batches[count - 1]!;
  }
}
