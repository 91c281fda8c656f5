import { RecentTimes } from '../base/recent-times.js';
import { SystemRuntime, type Runtime } from '../base/runtime.js';
import type { Overlay } from './overlay.js';
import { Patience } from './patience.js';
import type { Store, Write } from './store.js';

/** A batch takes no more steps once it has this many bytes; they wait for the next. */
const batchBytesMax = 32 * 1024 * 1024;

/** Steps run for so long at a stretch; then others have their turn. */
const turnMs = 10;

/** What a step gives that has done a part of its work: it is run again, before any other. */
export const unfinished = Symbol('unfinished');

interface Waiting {
  step: () => unknown;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
  onPart: (() => void) | undefined;
  /** Whether no caller waits for it. */
  isPatient: boolean;
  /** Set when a batch with a part of it was refused: the rest is not run. */
  failed?: true;
}

/** A step that has been run and waits for its batch to be durable. */
interface Applied {
  waiting: Waiting;
  result: unknown;
}

/** A step that threw, and so has written nothing. */
interface Refused {
  waiting: Waiting;
  error: unknown;
}

/**
 * Runs steps that write to an overlay, one after the other, and commits them in groups: whatever arrives while a
 * commit is on its way to the disk is run at once and goes into the next. A step's promise resolves when its batch is
 * on disk, and by then `onSeal`'s answer has been called: the place to tell readers.
 *
 * A step that throws may do so for what earlier steps have written. So it rejects when that is on disk, where readers see
 * it, and is run again when that has failed.
 */
export class GroupCommit {
  #batch: (Applied | Refused)[] = [];
  /** Steps that were refused while the batch on its way was all there was to see. */
  #refused: Refused[] = [];
  #waiting: Waiting[] = [];
  #committing = false;
  #scheduled = false;
  #held: Promise<void> | undefined;
  #idle: (() => void)[] = [];
  #quiet: (() => void)[] = [];
  readonly #patience: Patience;
  /** Set from when a batch has reached its bound until it is on disk, or refused. */
  #full = false;
  /** How long steps have run in this turn. */
  #spentMs = 0;
  #turnEnds = false;
  /** How long commits took, in milliseconds, until they were on disk. */
  readonly times = new RecentTimes();

  constructor(
    private readonly store: () => Store,
    private readonly overlay: Overlay,
    /** Called with each batch when it is closed; what it gives is called when that batch is on disk. */
    private readonly onSeal: (writes: readonly Write[]) => () => void = () => () => {},
    private readonly runtime: Runtime = new SystemRuntime(),
  ) {
    this.#patience = new Patience(runtime, () => this.#schedule());
  }

  /**
   * `onPart` is called for each part of an unfinished step that is on disk, in their order. A patient step has no caller
   * that waits: it is run now, and its commit waits a moment for others.
   */
  submit<T>(step: () => T | typeof unfinished, onPart?: () => void, isPatient = false): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting: Waiting = { step, resolve, reject, onPart, isPatient };
      if (this.#mustWait) this.#waiting.push(waiting);
      else this.#run(waiting);
    });
  }

  /** A caller waits for what was submitted so far. */
  hurry(): void {
    for (const waiting of this.#waiting) waiting.isPatient = false;
    if (this.#batch.length > 0) this.#schedule();
  }

  /** Resolves when all that was submitted so far is on disk, whatever comes after it. */
  async whenDurable(): Promise<void> {
    await this.submit(() => undefined);
  }

  /** Steps keep their order. */
  get #mustWait(): boolean {
    return this.#waiting.length > 0 || !this.#mayRun;
  }

  get #mayRun(): boolean {
    return this.#held === undefined && this.#spentMs < turnMs && !this.#full;
  }

  /**
   * Lets what has begun reach the disk, keeps everything else waiting, and runs `work` alone: the moment in which the
   * store itself is replaced.
   */
  async runExclusive<T>(work: () => Promise<T>): Promise<T> {
    while (this.#held !== undefined) await this.#held;
    let release!: () => void;
    this.#held = new Promise((resolve) => (release = resolve));
    try {
      await this.whenIdle();
      return await work();
    } finally {
      this.#held = undefined;
      release();
      this.#admit();
    }
  }

  /**
   * Runs `work` at a moment when no batch is on its way to the store, so that what it reads there is exactly what
   * `onSeal` has told readers of.
   */
  runBetweenCommits(work: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const run = (): void => {
        try {
          work();
          resolve();
        } catch (error) {
          reject(error as Error);
        }
      };
      if (this.#committing) this.#quiet.push(run);
      else run();
    });
  }

  /** Resolves when everything that was submitted so far is on disk; while held, everything that was run. */
  async whenIdle(): Promise<void> {
    if (this.#isIdle) return;
    this.hurry();
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  get #isIdle(): boolean {
    const isWaiting = this.#waiting.length > 0 && this.#held === undefined;
    return !this.#committing && this.#batch.length === 0 && !isWaiting;
  }

  #run(waiting: Waiting): void {
    if (waiting.failed) return;
    const start = this.runtime.monotonicMs();
    try {
      const result = this.overlay.atomically(waiting.step);
      this.#batch.push({ waiting, result });
      if (result === unfinished) this.#waiting.unshift(waiting);
      if (this.overlay.bytes > batchBytesMax) this.#full = true;
      if (waiting.isPatient && result !== unfinished && !this.#full) this.#patience.begin();
      else this.#schedule();
    } catch (error) {
      if (this.#batch.length > 0) {
        this.#batch.push({ waiting, error });
        if (!waiting.isPatient) this.#schedule();
      } else if (this.#committing) this.#refused.push({ waiting, error });
      else waiting.reject(error);
    }
    this.#spentMs += this.runtime.monotonicMs() - start;
    if (!this.#turnEnds) this.#endTurn();
  }

  /** Counts again from the next turn on, and goes on with what waits. */
  #endTurn(): void {
    this.#turnEnds = true;
    this.runtime.defer(() => {
      this.#turnEnds = false;
      this.#spentMs = 0;
      this.#admit();
    });
  }

  /** Waits for the end of this turn, so that all requests that came in with it share one commit. */
  #schedule(): void {
    this.#patience.end();
    if (this.#committing || this.#scheduled) return;
    this.#scheduled = true;
    this.runtime.defer(() => {
      this.#scheduled = false;
      this.#commit();
    });
  }

  #commit(): void {
    if (this.#committing || this.#batch.length === 0) return;
    this.#committing = true;
    const batch = this.#takeBatch();
    const writes = this.overlay.seal();
    const onCommit = this.onSeal(writes);
    const started = this.runtime.monotonicMs();
    this.#write(writes).then(
      () => {
        this.times.observe(this.runtime.monotonicMs() - started);
        this.overlay.committed();
        publish(onCommit);
        this.#committed(batch);
      },
      (error: unknown) => this.#failed(batch, error),
    );
  }

  #takeBatch(): (Applied | Refused)[] {
    const batch = this.#batch;
    this.#batch = [];
    this.#patience.reset();
    return batch;
  }

  /** A store that fails at once fails like any other. */
  #write(writes: readonly Write[]): Promise<void> {
    try {
      return this.store().write(writes).flushed;
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  #committed(batch: readonly (Applied | Refused)[]): void {
    for (const work of this.#quiet.splice(0)) work();
    this.#committing = false;
    this.#full = this.overlay.bytes > batchBytesMax;
    for (const each of batch) if ('result' in each && each.result === unfinished) each.waiting.onPart?.();
    const refused = this.#refused.splice(0);
    const answer = (): void => {
      for (const each of batch) {
        if ('error' in each) each.waiting.reject(each.error);
        else if (each.result !== unfinished) each.waiting.resolve(each.result as never);
      }
      for (const { waiting, error } of refused) waiting.reject(error);
    };
    if (this.#batch.length > 0 && this.#patience.isOver) {
      // The disk comes first: the next batch is on its way before the answers to this one take up the processor.
      this.#commit();
      this.runtime.defer(answer);
    } else {
      answer();
    }
    this.#admit();
  }

  /** The batch being put together was built on the one that failed: it goes too. */
  #failed(batch: readonly (Applied | Refused)[], error: unknown): void {
    this.onSeal([]);
    this.overlay.failed();
    const voided = this.#takeBatch();
    this.#committing = false;
    this.#full = false;
    const again: Waiting[] = [];
    for (const each of [...batch, ...this.#refused.splice(0), ...voided]) {
      if ('error' in each) again.push(each.waiting);
      else {
        each.waiting.failed = true;
        each.waiting.reject(error);
      }
    }
    this.#waiting.unshift(...again);
    for (const work of this.#quiet.splice(0)) work();
    this.#admit();
  }

  #admit(): void {
    while (this.#mayRun && this.#waiting.length > 0) this.#run(this.#waiting.shift()!);
    if (this.#isIdle) for (const resolve of this.#idle.splice(0)) resolve();
  }
}

/** What is on disk must not be called a failure, whatever goes wrong when readers are told; they log that themselves. */
function publish(onCommit: () => void): void {
  try {
    onCommit();
  } catch {
    // The batch is stored, and its steps resolve.
  }
}
