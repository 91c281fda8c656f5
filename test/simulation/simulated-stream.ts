import type { Stream, StreamInfo, StreamMessage } from '../../src/log/stream.js';
import type { Random } from '../model/random.js';
import type { SimulatedRuntime } from './simulated-runtime.js';

/** Milliseconds that something is on its way, sometimes so many that it is sent again meanwhile. */
const delayMs = 8;
const longDelayMs = 4_000;

/**
 * A stream on servers that do not crash, and a network that does what networks do: messages are lost, come late or twice,
 * confirmations are lost, readers are disconnected, and a server that was just elected does not know the last messages.
 */
export class SimulatedStream {
  readonly #messages: Buffer[] = [];
  readonly #readers = new Set<() => void>();
  #first = 1;
  /** Whether the network does all that; otherwise messages only take their time. */
  isTroubled = true;

  constructor(
    /** That of the servers. */
    private readonly runtime: SimulatedRuntime,
    private readonly random: Random,
    private readonly trace: (event: string) => void,
  ) {}

  get last(): number {
    return this.#messages.length;
  }

  /** All that were ever stored and not lost. */
  get messages(): readonly Buffer[] {
    return this.#messages;
  }

  /** Removes messages before a sequence. */
  trim(seq: number): void {
    if (seq <= this.#first || seq > this.last) return;
    this.trace(`trimmed to ${seq}`);
    this.#first = seq;
  }

  /** Loses the last messages. */
  loseEnd(count: number): void {
    this.#messages.length -= count;
    this.disconnect();
  }

  disconnect(): void {
    for (const end of [...this.#readers]) end();
  }

  /** The stream as a node sees it. What the node waits for never comes when it has crashed. */
  seenBy(node: SimulatedRuntime): Stream {
    return {
      name: 'simulated',
      info: () => this.#info(node),
      publish: (message) => this.#publish(Buffer.from(message), node),
      read: (after, signal) => this.#read(after, signal, node),
    };
  }

  async #info(node: SimulatedRuntime): Promise<StreamInfo> {
    await node.sleep(this.random.below(delayMs));
    if (this.isTroubled && this.random.oneIn(8)) throw new Error('no leader');
    const unknown = this.isTroubled && this.random.oneIn(8) ? this.random.below(3) : 0;
    return { epoch: 'e1', first: this.#first, last: Math.max(0, this.last - unknown) };
  }

  async #publish(message: Buffer, node: SimulatedRuntime): Promise<number> {
    const fault = this.isTroubled ? this.random.below(12) : Infinity;
    const copies = fault === 0 ? 0 : fault === 1 ? 2 : 1;
    let seq = 0;
    for (let copy = 0; copy < copies; copy++)
      this.runtime.setTimer(
        () => {
          this.#messages.push(message);
          seq = this.last;
          this.trace(`stored ${this.last}`);
        },
        this.random.below(fault === 2 ? longDelayMs : delayMs),
      );
    const waitMs = 2 * delayMs;
    await node.sleep(waitMs);
    if (fault === 3 || seq === 0) throw new Error('timeout');
    return seq;
  }

  async *#read(after: number, signal: AbortSignal, node: SimulatedRuntime): AsyncIterable<StreamMessage> {
    let isEnded = false;
    const end = (): void => void (isEnded = true);
    this.#readers.add(end);
    try {
      for (let seq = after + 1; !signal.aborted && !isEnded;) {
        await node.sleep(1 + this.random.below(delayMs));
        if (this.isTroubled && this.random.oneIn(40)) return;
        // Several may come at once.
        for (let left = this.random.below(4); left > 0 && seq <= this.last; left--) {
          if (signal.aborted || isEnded) return;
          if (seq < this.#first) return;
          yield { seq, bytes: this.#messages[seq - 1]! };
          seq++;
        }
      }
    } finally {
      this.#readers.delete(end);
    }
  }
}
