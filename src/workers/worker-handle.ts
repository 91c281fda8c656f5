import { fork, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Rpc } from '../base/rpc.js';
import type { Runtime, Timer } from '../base/runtime.js';
import type { OwnerMessage, WorkerMessage, WorkerSettings } from './messages.js';

const program = fileURLToPath(new URL('./worker-process.js', import.meta.url));

/** A worker that has not been heard of for so long is killed: what it reads would keep pages of the stores from being reused. */
const silenceMs = 10_000;
const lookMs = 1_000;
const lateMs = 3_000;

export interface WorkerEvents {
  asked: (worker: WorkerHandle, message: WorkerMessage) => unknown;
  /** Called once, with the connections that it had not been given yet. */
  ended: (worker: WorkerHandle, left: readonly Socket[]) => void;
}

/** One worker, as the owner of the data folder sees it. */
export class WorkerHandle {
  readonly #process: ChildProcess;
  readonly #rpc: Rpc<OwnerMessage, unknown, never, WorkerMessage>;
  readonly #watch: Timer;
  /** On their way to it. */
  readonly #sent = new Set<Socket>();
  readonly #exit: Promise<void>;
  #heardAt: number;
  #lookedAt: number;
  #ended = false;
  /** Why there is no process, where none could be started. */
  failure: Error | undefined;
  /** Connections that it has. */
  connections = 0;
  isReady = false;

  /** Throws, or ends at once with a `failure`, where the system starts no further process. */
  constructor(
    private readonly runtime: Runtime,
    private readonly events: WorkerEvents,
  ) {
    this.#process = fork(program, [], {
      // Without the flags of a program that this server is a part of, and without its standard output.
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const port = { postMessage: (message: unknown) => this.#send(message) };
    this.#rpc = new Rpc(port, (message) => events.asked(this, message));
    this.#heardAt = runtime.monotonicMs();
    this.#process.on('message', (message) => {
      this.#heardAt = runtime.monotonicMs();
      this.#rpc.receive(message);
    });
    this.#exit = new Promise((resolve) => {
      this.#process.once('exit', () => resolve());
      this.#process.on('error', (error) => {
        if (this.pid !== undefined) return this.kill();
        // Of a process that was never started no end is told.
        this.failure = error;
        if (this.#process.connected) this.#process.disconnect();
        resolve();
      });
    });
    void this.#exit.then(() => this.#end());
    this.#lookedAt = this.#heardAt;
    this.#watch = runtime.setIdleRepeating(() => this.#look(), lookMs);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  async start(settings: WorkerSettings): Promise<void> {
    await this.#rpc.call({ type: 'start', settings });
    this.isReady = true;
  }

  tell(message: OwnerMessage): void {
    this.#rpc.tell(message);
  }

  /** Asks for something; a worker that does not answer in time is killed, and what it had is let go of with it. */
  async ask<Answer>(message: OwnerMessage, waitMs = silenceMs): Promise<Answer | undefined> {
    const timer = this.runtime.setIdleTimer(() => this.kill(), waitMs);
    try {
      return (await this.#rpc.call(message)) as Answer;
    } catch {
      return undefined;
    } finally {
      timer.cancel();
    }
  }

  give(socket: Socket): void {
    this.connections++;
    this.#sent.add(socket);
    this.#process.send('connection', socket, (error) => {
      if (error === null) this.#sent.delete(socket);
    });
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** Resolves when the process is gone. */
  async exited(): Promise<void> {
    await this.#exit;
  }

  #look(): void {
    const now = this.runtime.monotonicMs();
    // Where this process was stopped itself, what the worker has sent meanwhile is read only after this.
    if (now - this.#lookedAt > lateMs) this.#heardAt = now;
    this.#lookedAt = now;
    // One that has not begun is given its own time for that.
    if (this.isReady && now - this.#heardAt > silenceMs) this.kill();
  }

  #send(message: unknown): void {
    // A message to a process that has just ended is lost with it; its end is told in another way.
    if (this.#process.connected) this.#process.send(message as never, () => undefined);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.isReady = false;
    this.#watch.cancel();
    this.#rpc.fail(new Error('the worker has ended'));
    const left = [...this.#sent].filter((socket) => hasHandle(socket));
    this.#sent.clear();
    this.events.ended(this, left);
  }
}

/** Node takes the handle of a connection away when it sends it. */
const hasHandle = (socket: Socket): boolean => Boolean((socket as { _handle?: unknown })._handle);
