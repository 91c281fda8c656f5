import { Worker } from 'node:worker_threads';
import type { Bytes } from '../base/bytes.js';
import type { Runtime, Timer } from '../base/runtime.js';
import { clockMs, shared, type Continue, type Reply, type Task } from './messages.js';
import { lowerPriority } from './priority.js';
import type { ScriptWorkerData } from './script-worker.js';

/** The end of a task: every reply but those by which a list waits for its host. */
export type FinalReply = Exclude<Reply, { type: 'pull' | 'push' | 'missing' }>;

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
  task: Task;
  peer: ListPeer | undefined;
  resolve: (reply: FinalReply) => void;
  reject: (error: Error) => void;
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
 * begins, and is ended when the note gets too old. Nothing softer stops every function, since built-in ones run for
 * minutes without asking anybody.
 */
export class ScriptThread {
  readonly #worker: Worker;
  readonly #state = new Int32Array(new SharedArrayBuffer(4 * shared.length));
  readonly #known = new Set<string>();
  #work: Work | undefined;
  #ended = false;
  /** Whether it had to give way to others, which lasts. */
  #slowed = false;

  constructor(private readonly options: ThreadOptions) {
    const { wasm, memory_bytes, lowPriority } = options;
    const data: ScriptWorkerData = { wasm, memory_bytes, lowPriority, state: this.#state };
    this.#worker = new Worker(new URL('./script-worker.js', import.meta.url), {
      name: 'tuffet-script',
      workerData: data,
      // A thread that runs out of memory after all ends alone.
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
      // Without the flags of the process, of which some keep a thread from starting.
      execArgv: [],
    });
    this.#worker.unref();
    this.#worker.on('message', (reply: Reply) => this.#take(reply));
    this.#worker.on('error', (error) => this.#end(false, error));
    this.#worker.on('exit', () => this.#end(false));
  }

  /** Whether it can be given another task. */
  get isUsable(): boolean {
    return !this.#ended && !this.#slowed;
  }

  /** Runs a task; fails by `ThreadEnded`, after which the thread is of no more use. */
  run(task: Task, peer?: ListPeer): Promise<FinalReply> {
    if (this.#ended) return Promise.reject(new ThreadEnded(false));
    return new Promise((resolve, reject) => {
      // The thread may have to start first; its time counts from when it takes the task.
      Atomics.store(this.#state, shared.waiting, 1);
      // A process with nothing else to do may end when the thread is idle, not sooner.
      this.#worker.ref();
      const timer = this.#watchAfter(Math.min(slowMs, this.options.timeoutMs()));
      this.#work = { task, peer, resolve, reject, timer };
      this.#worker.postMessage(this.#briefly(task));
    });
  }

  async stop(): Promise<void> {
    this.#end(false);
    await this.#worker.terminate();
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

  #take(reply: Reply): void {
    const work = this.#work;
    if (work === undefined) return;
    if (reply.type === 'missing') this.#worker.postMessage(work.task);
    else if (reply.type === 'pull') void this.#say(work.peer!.pull().then((rows) => ({ rows: rows ?? '' })));
    else if (reply.type === 'push')
      void this.#say(work.peer!.push(reply.text).then((on) => (on ? { sent: true } : { stop: true })));
    else {
      this.#finish();
      work.resolve(reply);
    }
  }

  /** Resumes a list function. It ends when reading rows fails or the client is gone. */
  async #say(answer: Promise<Continue>): Promise<void> {
    const message = await answer.catch((): Continue => ({ stop: true }));
    this.#worker.postMessage(message);
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
    this.#end(true);
    void this.#worker.terminate();
  }

  /** A function that takes this long must not take the processor from those that don't. */
  #giveWay(): void {
    if (this.#slowed || this.options.lowPriority) return;
    this.#slowed = true;
    lowerPriority(Atomics.load(this.#state, shared.thread));
  }

  #finish(): void {
    this.#work?.timer.cancel();
    this.#work = undefined;
    this.#worker.unref();
  }

  #end(timedOut: boolean, cause?: unknown): void {
    this.#ended = true;
    const work = this.#work;
    this.#finish();
    work?.reject(new ThreadEnded(timedOut, cause));
  }
}
