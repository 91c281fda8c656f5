import { receiveMessageOnPort, type MessagePort, type Transferable, type Worker } from 'node:worker_threads';
import { RequestError, refusalData, refusalOf, type RequestErrorData } from './errors.js';

type Message =
  | { kind: 'call'; id: number; body: unknown }
  | { kind: 'tell'; body: unknown }
  | { kind: 'note'; id: number; body: unknown }
  | { kind: 'answer'; id: number; body: unknown }
  | { kind: 'failure'; id: number; error: ErrorData };

/** An error as plain data: structured clones would lose the code and the class. */
type ErrorData =
  { refusal: RequestErrorData } | { message: string; stack: string | undefined; code: string | undefined };

export interface CallOptions<Note> {
  transfer?: Transferable[];
  /** Called with what the other side sends before its answer, such as progress. */
  onNote?: (note: Note) => void;
}

/** An answer of which some parts are moved to the other thread, not copied. */
export class Transferred<Answer> {
  constructor(
    readonly answer: Answer,
    readonly transfer: Transferable[],
  ) {}
}

/** Carries out what the other side asks for. What it gives or throws is the answer. Nothing that was told may fail. */
export type Handler<Asked> = (asked: Asked, note: (note: unknown) => void) => unknown;

interface Pending<Answer, Note> {
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
  onNote: ((note: Note) => void) | undefined;
}

/**
 * One end of a line between two threads. Either side calls the other and gets an answer or an error back, by the number of
 * the call; answers may come in any order. `tell` sends something that has no answer.
 */
export class Rpc<Request, Answer, Note = never, Asked = never> {
  readonly #pending = new Map<number, Pending<Answer, Note>>();
  #calls = 0;
  #idle: (() => void)[] = [];

  constructor(
    private readonly port: Pick<MessagePort | Worker, 'postMessage'>,
    private readonly handle: Handler<Asked> = () => undefined,
    /** Called each time that the last call was answered. */
    private readonly onIdle: () => void = () => undefined,
  ) {}

  /** Calls without an answer yet. */
  get pending(): number {
    return this.#pending.size;
  }

  call(request: Request, { transfer = [], onNote }: CallOptions<Note> = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const id = ++this.#calls;
      this.#post({ kind: 'call', id, body: request }, transfer);
      this.#pending.set(id, { resolve, reject, onNote });
    });
  }

  tell(request: Request): void {
    this.#post({ kind: 'tell', body: request });
  }

  /** Resolves when no call is without an answer. */
  async whenIdle(): Promise<void> {
    if (this.pending > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** To be called with each message of the port. */
  receive(message: unknown): void {
    const received = message as Message;
    switch (received.kind) {
      case 'call':
        return this.#serve(received.id, received.body as Asked);
      case 'tell':
        return void this.handle(received.body as Asked, () => undefined);
      case 'note':
        return this.#pending.get(received.id)?.onNote?.(received.body as Note);
      case 'answer':
        return this.#take(received.id)?.resolve(received.body as Answer);
      case 'failure':
        return this.#take(received.id)?.reject(errorOf(received.error));
    }
  }

  /** Rejects all calls: the other side is gone. */
  fail(error: Error): void {
    for (const id of [...this.#pending.keys()]) this.#take(id)?.reject(error);
  }

  #take(id: number): Pending<Answer, Note> | undefined {
    const pending = this.#pending.get(id);
    if (this.#pending.delete(id) && this.#pending.size === 0) {
      this.onIdle();
      for (const resolve of this.#idle.splice(0)) resolve();
    }
    return pending;
  }

  #serve(id: number, request: Asked): void {
    const answer = (result: unknown): void => {
      if (result instanceof Transferred)
        this.#post({ kind: 'answer', id, body: result.answer }, result.transfer);
      else this.#post({ kind: 'answer', id, body: result });
    };
    const fail = (error: unknown): void => this.#post({ kind: 'failure', id, error: errorData(error) });
    try {
      const result = this.handle(request, (note) => this.#post({ kind: 'note', id, body: note }));
      if (result instanceof Promise) result.then(answer).catch(fail);
      else answer(result);
    } catch (error) {
      fail(error);
    }
  }

  #post(message: Message, transfer: Transferable[] = []): void {
    this.port.postMessage(message, transfer);
  }
}

/** What was told to a thread that has not returned to its event loop since, if anything. */
export function receiveTold<Told>(port: MessagePort): Told | undefined {
  const message = receiveMessageOnPort(port)?.message as Message | undefined;
  return message?.kind === 'tell' ? (message.body as Told) : undefined;
}

function errorData(error: unknown): ErrorData {
  if (error instanceof RequestError) return { refusal: refusalData(error) };
  if (!(error instanceof Error)) return { message: String(error), stack: undefined, code: undefined };
  const { message, stack, code } = error as NodeJS.ErrnoException;
  return { message, stack, code };
}

function errorOf(data: ErrorData): Error {
  if ('refusal' in data) return refusalOf(data.refusal);
  const { message, stack, code } = data;
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return code === undefined ? error : Object.assign(error, { code });
}
