/**
 * Large documents are held against selectors on threads of their own. There is no point at which one document could be left and
 * come back to: to parse 8 MB takes 300 ms, and a selector with many conditions for the elements of a list can take minutes for a
 * list of millions. A thread that takes too long, or whose client has gone, is ended.
 *
 * What is large depends on the selector, too: the cost of a document is its length times what the selector may do with each of
 * its characters. Nearly all documents are far below that, and are looked at where they are read.
 */
import type { Runtime, Timer } from '../base/runtime.js';
import { RequestError } from '../base/errors.js';
import { RpcThread } from '../base/rpc-thread.js';
import type { Evaluated, Evaluation, Verdict } from './evaluate.js';
import type { SelectorNode } from './node.js';
import type { Selector } from './selector.js';

export interface EvaluationRequest {
  /** What the thread is to do from here on; undefined where that is the same as before. */
  evaluation: Evaluation | undefined;
  doc: Evaluated;
}

/** From this cost on a document is large: 512 KB with a selector that takes no time worth mentioning. */
const largeCost = 2 * 1024 * 1024;
/** What it costs to parse a character. */
const parsingCost = 4;

const threadsMax = 2;
/** A thread that has nothing to do for so long is ended. */
const idleMs = 10_000;
/** One document may need hundreds of megabytes when it is parsed. */
const resourceLimits = { maxOldGenerationSizeMb: 1_024 };

/** Holds the large ones among documents against one selector. */
export class LargeDocs {
  readonly #evaluation: Evaluation;
  readonly #cost: number;

  constructor(
    { normal, members, isWhole }: Selector,
    /** What is taken out of a document that matches. */
    readonly fields: readonly string[] | undefined,
    private readonly runtime: Runtime,
    /** How long one document may take, and wait for a thread. */
    private readonly timeoutMs: number,
    private readonly isWanted: () => boolean = () => true,
  ) {
    this.#evaluation = { selector: normal, members: isWhole ? undefined : [...members], fields };
    this.#cost = parsingCost + costOf(normal, false);
  }

  isLarge(text: { length: number }): boolean {
    return text.length * this.#cost > largeCost;
  }

  judge(doc: Evaluated): Promise<Verdict> {
    const { runtime, timeoutMs, isWanted } = this;
    return pool.judge(this.#evaluation, doc, { runtime, timeoutMs, isWanted });
  }
}

/** What a selector may do with each character of a document, beside looking at it. */
function costOf(node: SelectorNode, isOfParts: boolean): number {
  switch (node.kind) {
    case 'and':
    case 'or':
    case 'nor':
      return node.args.reduce((sum, arg) => sum + costOf(arg, isOfParts), 0);
    case 'not':
      return costOf(node.arg, isOfParts);
    case 'field':
      return costOf(node.condition, isOfParts);
    case 'parts':
      return 1 + costOf(node.arg, true);
    case 'condition':
      if (node.operator === '$all') return (node.value as unknown[]).length;
      if (node.operator === '$regex') return patternCost * (node.value as string).length;
      return isOfParts ? 1 : 0;
    case 'everything':
    case 'text':
      return 0;
  }
}

const patternCost = 4;

class EvaluationThread extends RpcThread<EvaluationRequest, Verdict> {
  /** What it was told to do last. */
  evaluation: Evaluation | undefined;
  idling: Timer | undefined;

  constructor() {
    super(new URL('./evaluate-worker.js', import.meta.url), { name: 'tuffet-selectors', resourceLimits });
  }
}

/** How long a document may wait and take, and whether anybody still wants to know. */
interface Limits {
  runtime: Runtime;
  timeoutMs: number;
  isWanted: () => boolean;
}

/** Ends what takes too long, or is not wanted any more. */
class Watch {
  /** Called once. */
  onEnd: (error: RequestError) => void = () => undefined;
  error: RequestError | undefined;
  readonly #timer: Timer;

  constructor({ runtime, timeoutMs, isWanted }: Limits) {
    const until = runtime.monotonicMs() + timeoutMs;
    this.#timer = runtime.setIdleRepeating(() => {
      if (isWanted() && runtime.monotonicMs() < until) return;
      this.close();
      this.error = tookTooLong();
      this.onEnd(this.error);
    }, watchMs);
  }

  close(): void {
    this.#timer.cancel();
  }
}

/** The threads of the process. They start with the first large document. */
class EvaluationPool {
  readonly #idle: EvaluationThread[] = [];
  readonly #waiting = new Set<(thread: EvaluationThread) => void>();
  #busy = 0;

  async judge(evaluation: Evaluation, doc: Evaluated, limits: Limits): Promise<Verdict> {
    const watch = new Watch(limits);
    try {
      const thread = await this.#take(watch);
      try {
        return await ask(thread, evaluation, doc, watch);
      } finally {
        this.#giveBack(thread, limits.runtime);
      }
    } catch (error) {
      throw watch.error ?? error;
    } finally {
      watch.close();
    }
  }

  #take(watch: Watch): Promise<EvaluationThread> | EvaluationThread {
    if (this.#busy < threadsMax) {
      this.#busy++;
      return this.#idleOrNew();
    }
    return new Promise((resolve, reject) => {
      this.#waiting.add(resolve);
      watch.onEnd = (error) => {
        this.#waiting.delete(resolve);
        reject(error);
      };
    });
  }

  #idleOrNew(): EvaluationThread {
    for (let thread = this.#idle.pop(); thread !== undefined; thread = this.#idle.pop()) {
      thread.idling?.cancel();
      if (!thread.hasEnded) return thread;
    }
    return new EvaluationThread();
  }

  #giveBack(thread: EvaluationThread, runtime: Runtime): void {
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
      return next(thread.hasEnded ? new EvaluationThread() : thread);
    }
    this.#busy--;
    if (thread.hasEnded) return;
    this.#idle.push(thread);
    thread.idling = runtime.setIdleTimer(() => {
      this.#idle.splice(this.#idle.indexOf(thread), 1);
      void thread.stop();
    }, idleMs);
  }
}

async function ask(
  thread: EvaluationThread,
  evaluation: Evaluation,
  doc: Evaluated,
  watch: Watch,
): Promise<Verdict> {
  if (watch.error !== undefined) throw watch.error;
  watch.onEnd = () => void thread.stop();
  const isSame = thread.evaluation === evaluation;
  thread.evaluation = evaluation;
  try {
    return await thread.call({ evaluation: isSame ? undefined : evaluation, doc });
  } catch (error) {
    // What it was told may not have reached it.
    thread.evaluation = undefined;
    throw error;
  }
}

const pool = new EvaluationPool();
/** How often is looked whether a document has taken too long. */
const watchMs = 100;

const tookTooLong = (): RequestError =>
  new RequestError('timeout', 'The request could not be processed in a reasonable amount of time.');
