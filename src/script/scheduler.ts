import { BoundedMap } from '../base/bounded-map.js';
import { Unavailable } from '../base/errors.js';
import type { Timer } from '../base/runtime.js';
import type { Task } from './messages.js';
import {
  ScriptThread,
  ThreadEnded,
  type FinalReply,
  type ListPeer,
  type ThreadOptions,
} from './script-thread.js';

/** Waiting tasks of one space, of all spaces, and the size of what they carry. */
const waitingOfSpaceMax = 1_000;
const waitingMax = 10_000;
const waitingBytesMax = 512 * 1024 * 1024;
/** How long all threads have to be busy before there are more of them. */
const busyMs = 100;
/** How long a space is remembered for a function that had to be stopped. */
const suspicionMs = 60_000;
const suspectsMax = 1_000;
/** Idle threads end after this. */
const idleMs = 10_000;
/** One that has been given more than this holds memory that it does not give back, and ends sooner. */
const wornBytes = 16 * 1024 * 1024;
const wornIdleMs = 3_000;

/** Runs tasks: on threads, or elsewhere in a simulation. */
export interface TaskExecutor {
  /** `bytes` is about the size of the task. */
  submit(task: Task, bytes: number, peer?: ListPeer): Promise<FinalReply>;
  /** Gets ready for tasks before there is one. */
  warm?(): void;
  /** Forgets what functions have left behind. */
  renew(): void;
  close(): Promise<void>;
}

interface Waiting {
  task: Task;
  peer: ListPeer | undefined;
  bytes: number;
  since: number;
  resolve: (reply: FinalReply) => void;
  reject: (error: Error) => void;
}

interface Running {
  queue: string;
  since: number;
}

interface Idle {
  thread: ScriptThread;
  /** Whose functions it has ready. */
  space: string;
  timer: Timer;
}

const closingReason = 'The server is closing.';
const behindSlowReason = 'A function of the same database took too long, and this call has waited behind it.';

/** What waits together: the tasks of a space, and its lists apart from them. */
const queueOf = ({ kind, space }: Task): string => (kind === 'list' ? listMark : '') + space;
const listMark = 'list ';
const isList = (queue: string): boolean => queue.startsWith(listMark);

/**
 * Shares a few threads among the functions of many databases, which may be slow or hostile:
 *
 * - spaces take turns, however many tasks each has waiting;
 * - one space never has all threads, and those whose functions had to be stopped lately have all but one together, and
 *   one each;
 * - lists, which wait for their clients, have half of the threads together;
 * - when all threads have been busy for a while, a space that has nothing running is given a thread beyond their number,
 *   up to as many again.
 */
export class Scheduler implements TaskExecutor {
  readonly #waiting = new Map<string, Waiting[]>();
  #waitingCount = 0;
  #waitingBytes = 0;
  readonly #running = new Map<ScriptThread, Running>();
  #idle: Idle[] = [];
  /** Until when each is one. */
  readonly #suspects = new BoundedMap<string, number>(suspectsMax);
  #retry: Timer | undefined;
  /** Threads that are to end when they are done. */
  readonly #outdated = new WeakSet<ScriptThread>();
  /** Bytes of the tasks that each thread has been given. */
  readonly #carried = new WeakMap<ScriptThread, number>();
  #closed = false;

  constructor(
    private readonly threads: number,
    private readonly options: ThreadOptions,
    /** Whether the last thread stays when it is idle, or a new one in its place. */
    private readonly keepsLast = false,
  ) {}

  submit(task: Task, bytes: number, peer?: ListPeer): Promise<FinalReply> {
    return new Promise((resolve, reject) => {
      const name = queueOf(task);
      const queue = this.#waiting.get(name) ?? [];
      const full =
        queue.length >= waitingOfSpaceMax ||
        this.#waitingCount >= waitingMax ||
        this.#waitingBytes + bytes > waitingBytesMax;
      if (full || this.#closed) {
        const reason = full ? 'Too many calls of functions are waiting.' : closingReason;
        return reject(new Unavailable(reason));
      }
      queue.push({ task, peer, bytes, since: this.#now(), resolve, reject });
      this.#waiting.set(name, queue);
      this.#waitingCount++;
      this.#waitingBytes += bytes;
      this.#dispatch();
    });
  }

  /** Starts a thread where there is none. */
  warm(): void {
    const isReady = this.#running.size > 0 || this.#idle.some(({ thread }) => thread.isUsable);
    if (!isReady && !this.#closed) this.#putThread(new ScriptThread(this.options), '');
  }

  /** Lets all threads end, those at work when they are done; later tasks get new ones. */
  renew(): void {
    for (const { thread, timer } of this.#idle.splice(0)) {
      timer.cancel();
      void thread.stop();
    }
    for (const thread of this.#running.keys()) this.#outdated.add(thread);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#retry?.cancel();
    for (const name of [...this.#waiting.keys()]) this.#refuseWaiting(name, Infinity);
    for (const { timer } of this.#idle) timer.cancel();
    const threads = [...this.#running.keys(), ...this.#idle.map(({ thread }) => thread)];
    this.#idle = [];
    await Promise.all(threads.map((thread) => thread.stop()));
  }

  #now(): number {
    return this.options.runtime.monotonicMs();
  }

  #dispatch(): void {
    for (const [name, queue] of this.#waiting) {
      if (!this.#mayRun(name)) continue;
      const next = queue.shift()!;
      // To the end of the turn.
      this.#waiting.delete(name);
      if (queue.length > 0) this.#waiting.set(name, queue);
      this.#waitingCount--;
      this.#waitingBytes -= next.bytes;
      this.#start(next);
      return this.#dispatch();
    }
    if (this.#waitingCount > 0 && this.#retry === undefined) {
      this.#retry = this.options.runtime.setIdleTimer(() => {
        this.#retry = undefined;
        this.#dispatch();
      }, busyMs);
    }
  }

  #mayRun(name: string): boolean {
    const own = this.#countRunning((each) => each.queue === name);
    const share = Math.max(1, this.threads - 1);
    const suspect = this.#isSuspect(name);
    if (own >= (suspect ? 1 : share)) return false;
    if (suspect && this.#countRunning((each) => this.#isSuspect(each.queue)) >= share) return false;
    if (isList(name) && this.#countRunning((each) => isList(each.queue)) >= Math.max(1, this.threads >> 1))
      return false;
    if (this.#running.size < this.threads) return true;
    if (own > 0 || suspect || this.#running.size >= 2 * this.threads) return false;
    const now = this.#now();
    return this.#countRunning(({ since }) => now - since < busyMs) === 0;
  }

  #countRunning(test: (each: Running) => boolean): number {
    let count = 0;
    for (const each of this.#running.values()) if (test(each)) count++;
    return count;
  }

  #start({ task, peer, bytes, resolve, reject }: Waiting): void {
    const thread = this.#takeThread(task.space);
    this.#carried.set(thread, (this.#carried.get(thread) ?? 0) + bytes);
    this.#running.set(thread, { queue: queueOf(task), since: this.#now() });
    thread
      .run(task, peer)
      .then(resolve, (error: Error) => {
        if (error instanceof ThreadEnded && error.timedOut) this.#suspect(queueOf(task));
        reject(error);
      })
      .finally(() => {
        this.#running.delete(thread);
        this.#putThread(thread, task.space);
        this.#dispatch();
      });
  }

  /** An idle thread that has the space's functions ready, or the one that is idle longest, or a new one. */
  #takeThread(space: string): ScriptThread {
    this.#idle = this.#idle.filter(({ thread }) => thread.isUsable);
    const at = this.#idle.findIndex((idle) => idle.space === space);
    const idle = this.#idle.splice(Math.max(at, 0), 1)[0];
    idle?.timer.cancel();
    return idle?.thread ?? new ScriptThread(this.options);
  }

  #putThread(thread: ScriptThread, space: string): void {
    const superfluous = this.#idle.length + this.#running.size >= 2 * this.threads;
    if (this.#closed || superfluous || !thread.isUsable || this.#outdated.has(thread))
      return void thread.stop();
    const isWorn = (this.#carried.get(thread) ?? 0) > wornBytes;
    const idle: Idle = {
      thread,
      space,
      timer: this.options.runtime.setIdleTimer(
        () => {
          const isKept = this.keepsLast && this.#idle.length === 1 && this.#running.size === 0;
          if (isKept && !isWorn) return;
          this.#idle = this.#idle.filter((each) => each !== idle);
          void thread.stop();
          if (isKept) this.warm();
        },
        isWorn ? wornIdleMs : idleMs,
      ),
    };
    this.#idle.push(idle);
  }

  /** A function of this space had to be stopped. What has waited behind it as long as it ran fails with it. */
  #suspect(name: string): void {
    this.#suspects.set(name, this.#now() + suspicionMs);
    this.#refuseWaiting(name, this.#now() - this.options.timeoutMs());
  }

  #isSuspect(name: string): boolean {
    const until = this.#suspects.get(name);
    if (until === undefined) return false;
    if (until > this.#now()) return true;
    this.#suspects.delete(name);
    return false;
  }

  #refuseWaiting(name: string, since: number): void {
    const queue = this.#waiting.get(name) ?? [];
    const rest = queue.filter((each) => each.since > since);
    for (const each of queue) {
      if (each.since > since) continue;
      this.#waitingCount--;
      this.#waitingBytes -= each.bytes;
      each.reject(new Unavailable(this.#closed ? closingReason : behindSlowReason));
    }
    if (rest.length === 0) this.#waiting.delete(name);
    else this.#waiting.set(name, rest);
  }
}
