import { noBytes, type Bytes } from '../base/bytes.js';
import { RpcThread, RpcThreadEnded } from '../base/rpc-thread.js';
import type { Runtime, Timer } from '../base/runtime.js';
import { clockMs, shared, type Continue, type Question, type Reply, type Task } from './messages.js';
import { lowerPriority } from './priority.js';
import type { ScriptWorkerData } from './script-worker.js';

/** The end of a task. */
export type FinalReply = Exclude<Reply, { type: 'missing' }>;

/** Why a task has no reply: it was stopped at the deadline, or the thread broke. */
export class ThreadEnded extends Error {
  constructor(
    readonly timedOut: boolean,
    /** What the thread broke of. */
    override readonly cause?: unknown,
  ) {
    super(timedOut ? 'a function took too long' : 'a thread for functions ended', { cause });
  }
}

/** Where a list gets its rows from and sends its text to. */
export interface ListPeer {
  pull(): Promise<Bytes | undefined>;
  /** False when the client is gone. */
  push(text: Bytes): Promise<boolean>;
}

export interface ThreadOptions {
  runtime: Runtime;
  wasm: WebAssembly.Module;
  memory_bytes: number;
  lowPriority: boolean;
  timeoutMs: () => number;
}

interface Work {
  peer: ListPeer | undefined;
  timer: Timer;
}

/** Longer than any function needs that does nothing odd, on a machine that is busy. */
const slowMs = 250;

/** What a thread may hold beside the memory of functions: documents on their way in, rows on their way out. */
const heapMegabytesMax = 1_024;

/** Programs that a thread is taken to know; it says so when it has forgotten one. */
const knownProgramsMax = 50;

/**
 * A thread that runs functions, one task at a time. Each call within a task has a deadline: the thread notes when a call
 * begins, and is terminated when the note gets too old. Nothing else stops every function: some built-in ones run for minutes
 * without an interruption.
 */
export class ScriptThread {
  readonly #thread: RpcThread<Task | Continue, Reply, never, Question>;
  readonly #state = new Int32Array(new SharedArrayBuffer(4 * shared.length));
  readonly #known = new Set<string>();
  #work: Work | undefined;
  #timedOut = false;
  /** Whether it had to give way to others, which lasts. */
  #slowed = false;

  constructor(private readonly options: ThreadOptions) {
    const { wasm, memory_bytes, lowPriority } = options;
    const data: ScriptWorkerData = { wasm, memory_bytes, lowPriority, state: this.#state };
    this.#thread = new RpcThread(new URL('./script-worker.js', import.meta.url), {
      name: 'tuffet-script',
      workerData: data,
      // A thread that runs out of memory after all ends alone.
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
      handle: (question) => this.#answer(question),
    });
  }

  /** Whether it can be given another task. */
  get isUsable(): boolean {
    return !this.#thread.hasEnded && !this.#slowed;
  }

  /** Runs a task; fails by `ThreadEnded`, after which the thread is of no more use. */
  async run(task: Task, peer?: ListPeer): Promise<FinalReply> {
    // The thread may have to start first; its time counts from when it takes the task.
    Atomics.store(this.#state, shared.waiting, 1);
    const work = { peer, timer: this.#watchAfter(Math.min(slowMs, this.options.timeoutMs())) };
    this.#work = work;
    try {
      const reply = await this.#thread.call(this.#briefly(task));
      return reply.type === 'missing' ? ((await this.#thread.call(task)) as FinalReply) : reply;
    } catch (error) {
      void this.stop();
      throw new ThreadEnded(this.#timedOut, error instanceof RpcThreadEnded ? error.cause : error);
    } finally {
      work.timer.cancel();
      this.#work = undefined;
    }
  }

  stop(): Promise<void> {
    return this.#thread.stop();
  }

  /** The task without what the thread knows already. */
  #briefly(task: Task): Task {
    if (task.kind === 'check') return task;
    const key = `${task.kind === 'list' ? 'call' : task.kind} ${task.space} ${task.program.id}`;
    if (this.#known.has(key)) return { ...task, program: { id: task.program.id } };
    if (this.#known.size >= knownProgramsMax) this.#known.clear();
    this.#known.add(key);
    return task;
  }

  #answer(question: Question): void {
    const { peer } = this.#work ?? {};
    if (peer === undefined) return;
    if (question.type === 'pull') void this.#resume(peer.pull().then((rows) => ({ rows: rows ?? noBytes })));
    else void this.#resume(peer.push(question.text).then((on) => (on ? { sent: true } : { stop: true })));
  }

  /** Resumes a list function. It ends when reading rows fails or the client is gone. */
  async #resume(answer: Promise<Continue>): Promise<void> {
    this.#thread.tell(await answer.catch((): Continue => ({ stop: true })));
    Atomics.add(this.#state, shared.said, 1);
    Atomics.notify(this.#state, shared.said);
  }

  #watchAfter(ms: number): Timer {
    return this.options.runtime.setTimer(() => this.#watch(), ms);
  }

  #watch(): void {
    const work = this.#work;
    if (work === undefined) return;
    const timeout = this.options.timeoutMs();
    const waiting = Atomics.load(this.#state, shared.waiting) === 1;
    const elapsed = waiting ? 0 : (clockMs() - Atomics.load(this.#state, shared.since)) | 0;
    if (elapsed < timeout) {
      if (elapsed >= slowMs) this.#giveWay();
      work.timer = this.#watchAfter((elapsed < slowMs ? slowMs : timeout) - elapsed);
      return;
    }
    this.#timedOut = true;
    void this.stop();
  }

  /** A function that takes this long must not take the processor from those that don't. */
  #giveWay(): void {
    if (this.#slowed || this.options.lowPriority) return;
    this.#slowed = true;
    lowerPriority(Atomics.load(this.#state, shared.thread));
  }
}
