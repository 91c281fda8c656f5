import { Worker, type ResourceLimits } from 'node:worker_threads';
import { Rpc, type CallOptions, type Handler } from './rpc.js';

/** Why a call has no answer: the thread was stopped, or broke of `cause`. */
export class RpcThreadEnded extends Error {
  constructor(name: string, cause?: unknown) {
    super(`the thread ${name} has ended`, { cause });
  }
}

export interface RpcThreadOptions<Asked> {
  name: string;
  workerData?: unknown;
  resourceLimits?: ResourceLimits;
  /** What the thread asks of its starter. */
  handle?: Handler<Asked>;
  /** Called once, when the thread was stopped or has broken. */
  onEnd?: (error: RpcThreadEnded) => void;
}

/**
 * A thread that answers calls; its module has an `Rpc` of its own on `parentPort`. When it ends, whatever the reason, all
 * calls without an answer are rejected, and so are later ones. A process with nothing else to do may end while no call waits
 * for an answer.
 */
export class RpcThread<Request, Answer, Note = never, Asked = never> {
  readonly #worker: Worker;
  readonly #rpc: Rpc<Request, Answer, Note, Asked>;
  #ended: RpcThreadEnded | undefined;

  constructor(
    module: URL,
    private readonly options: RpcThreadOptions<Asked>,
  ) {
    const { name, workerData, resourceLimits, handle } = options;
    this.#worker = new Worker(module, {
      name,
      workerData,
      ...(resourceLimits && { resourceLimits }),
      // Without the flags of the process, of which some (`--input-type`) keep a thread from starting.
      execArgv: [],
    });
    this.#rpc = new Rpc(this.#worker, handle, () => this.#worker.unref());
    this.#worker.unref();
    this.#worker.on('message', (message) => this.#rpc.receive(message));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => this.#end());
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Calls without an answer yet. */
  get pending(): number {
    return this.#rpc.pending;
  }

  call(request: Request, options?: CallOptions<Note>): Promise<Answer> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const answer = this.#rpc.call(request, options);
    if (this.#rpc.pending === 1) this.#worker.ref();
    return answer;
  }

  tell(request: Request): void {
    this.#rpc.tell(request);
  }

  whenIdle(): Promise<void> {
    return this.#rpc.whenIdle();
  }

  /** Ends the thread wherever it is. */
  async stop(): Promise<void> {
    this.#end();
    await this.#worker.terminate();
  }

  #end(cause?: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = new RpcThreadEnded(this.options.name, cause);
    this.#rpc.fail(this.#ended);
    this.options.onEnd?.(this.#ended);
  }
}
