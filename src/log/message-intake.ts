import { StreamLost, type StreamMessage } from './stream.js';

/** So many confirmed messages are remembered until they are read: beyond that, a replica waits for what it reads. */
const confirmedMax = 64;

/**
 * Takes the messages of a stream one at a time: those that are read from it, and this node's own as soon as the stream has confirmed
 * them, which is some time before they can be read.
 */
export class MessageIntake {
  /** Messages that were taken when they were confirmed, and have not been read yet, by their sequences. */
  readonly #confirmed = new Map<number, Buffer>();
  #isTaking = false;
  /** Ends when the last confirmed message is taken, or fails. */
  #takingConfirmed: Promise<void> = Promise.resolve();
  #failure: Error | undefined;

  constructor(
    private readonly stream: string,
    private readonly take: (message: StreamMessage) => Promise<void>,
    /** Called when a confirmed message could not be taken: nothing behind it may be. */
    private readonly onFailure: () => void,
  ) {}

  /** Why a confirmed message could not be taken, since `reset`. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  reset(): void {
    this.#confirmed.clear();
    this.#failure = undefined;
  }

  async read(message: StreamMessage): Promise<void> {
    while (this.#isTaking) await this.#takingConfirmed;
    if (this.#failure === undefined && !this.#wasConfirmed(message)) await this.#take(message);
  }

  /** A message of this node is in the stream, right behind all that was taken: nothing else can be at its place. */
  confirmed(message: StreamMessage): void {
    if (this.#isTaking || this.#failure !== undefined || this.#confirmed.size >= confirmedMax) return;
    this.#confirmed.set(message.seq, message.bytes);
    this.#takingConfirmed = this.#take(message).catch((error: unknown) => {
      this.#failure = error as Error;
      this.onFailure();
    });
  }

  /** Resolves when no confirmed message is being taken. */
  async settled(): Promise<void> {
    await this.#takingConfirmed;
  }

  /** Throws where the stream has something else in the place of a message that it has confirmed. */
  #wasConfirmed({ seq, bytes }: StreamMessage): boolean {
    const confirmed = this.#confirmed.get(seq);
    if (confirmed === undefined) return false;
    this.#confirmed.delete(seq);
    if (confirmed.equals(bytes)) return true;
    throw new StreamLost(
      this.stream,
      `it confirmed a message ${seq} of this node, and has another one there`,
    );
  }

  async #take(message: StreamMessage): Promise<void> {
    this.#isTaking = true;
    try {
      await this.take(message);
    } finally {
      this.#isTaking = false;
    }
  }
}
