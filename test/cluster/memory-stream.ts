import {
  StreamLost,
  type RecoveredHistory,
  type Stream,
  type StreamInfo,
  type StreamMessage,
} from '../../src/log/stream.js';

/** A stream in memory that does what a real one may do: fail after it has stored a message, and store one twice. */
export class MemoryStream implements Stream {
  readonly #messages: Buffer[] = [];
  readonly #waiting = new Set<() => void>();
  #connection = 0;
  epoch = 'e1';
  recovered: RecoveredHistory | undefined;
  /** What happens to the next publications, in turn; they succeed when this is empty. */
  readonly faults: ('lost' | 'unconfirmed' | 'twice')[] = [];
  published = 0;
  /** So many times it does not know its last message, as a server that was just elected. */
  behind = 0;
  /** Whether readers get nothing for now. */
  isHeld = false;

  constructor(readonly name = 'memory') {}

  info(): Promise<StreamInfo> {
    const last = this.#messages.length - (this.behind-- > 0 ? 1 : 0);
    const { epoch, recovered } = this;
    return Promise.resolve({ epoch, first: 1, last, ...(recovered && { recovered }) });
  }

  publish(message: Buffer, _id?: string, epoch?: string): Promise<number | undefined> {
    this.published++;
    const fault = this.faults.shift();
    if (fault === 'lost') return Promise.reject(new Error('timeout'));
    this.#messages.push(Buffer.from(message));
    if (fault === 'twice') this.#messages.push(Buffer.from(message));
    const seq = epoch === this.epoch ? this.#messages.length : undefined;
    for (const wake of this.#waiting) wake();
    return fault === 'unconfirmed' ? Promise.reject(new Error('timeout')) : Promise.resolve(seq);
  }

  /** Readers get what is there again. */
  release(): void {
    this.isHeld = false;
    for (const wake of this.#waiting) wake();
  }

  /** Has something else in the place of its last message. */
  replaceLast(bytes: Buffer): void {
    this.#messages[this.#messages.length - 1] = bytes;
  }

  /** Loses the last messages, as a stream that was restored from a backup. */
  truncate(count: number): void {
    this.#messages.length -= count;
  }

  /** Ends all readings. */
  disconnect(): void {
    this.#connection++;
    for (const wake of this.#waiting) wake();
  }

  async *read(after: number, signal: AbortSignal): AsyncIterable<StreamMessage> {
    const connection = this.#connection;
    const isEnded = (): boolean => signal.aborted || connection !== this.#connection;
    if (after > this.#messages.length) throw new StreamLost(this.name, 'it is too short');
    for (let seq = after + 1; !isEnded(); seq++) {
      while ((seq > this.#messages.length || this.isHeld) && !isEnded()) await this.#next(signal);
      if (!isEnded()) yield { seq, bytes: this.#messages[seq - 1]! };
    }
  }

  #next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
}
