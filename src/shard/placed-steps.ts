import type { Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { StorageError } from '../base/storage-errors.js';
import { Rejection } from '../log/rejection.js';
import {
  decodePlace,
  encodeHead,
  encodePlace,
  type StreamHead,
  type StreamPlace,
} from '../log/stream-place.js';
import type { Delivery, Outcome } from '../log/stream-target.js';
import { unfinished, type GroupCommit } from '../storage/group-commit.js';
import type { Overlay } from '../storage/overlay.js';

/** Applies a command, or what is left of it behind its first `done` edits. */
export type Work = (done: number) => Worked;

/** The outcome of the whole command, or how many edits are applied by now. */
type Worked = Outcome | { done: number };

/** A step found the store at another place than the one it follows: something before it was refused. */
class OutOfOrder extends Error {
  constructor() {
    super('a command was not applied, since one before it was not');
  }
}

/**
 * Applies what a stream brings to one store, in order, each command once. The place in the stream is written in the
 * transaction of the command.
 */
export class PlacedSteps {
  /** As it will be when all that was submitted is applied. */
  #place: (StreamPlace & { bytes: Bytes }) | undefined;

  constructor(
    private readonly commits: GroupCommit,
    private readonly overlay: Overlay,
    private readonly key: Bytes,
    private readonly stored: () => Bytes | undefined,
  ) {
    this.reload();
  }

  get place(): StreamPlace | undefined {
    return this.#place;
  }

  /** The last message that is on disk as a whole; undefined where the stream does not concern the store yet. */
  get storedSeq(): number | undefined {
    const bytes = this.stored();
    return bytes === undefined ? undefined : decodePlace(bytes).head.seq;
  }

  /** Looks at the store again, where something was refused and nothing is under way. */
  reload(): void {
    const bytes = this.stored();
    this.#place = bytes === undefined ? undefined : { ...decodePlace(bytes), bytes };
  }

  /** Notes the place from which on the stream concerns the store. */
  async begin(head: StreamHead): Promise<void> {
    if (this.#place !== undefined) return;
    const bytes = encodePlace(encodeHead(head), 0, 0);
    await this.commits.submit(() => this.overlay.put(this.key, bytes));
    this.#place = { head, index: 0, done: 0, bytes };
  }

  /** Notes a head, whatever was noted before, where the stream concerns the store. */
  async adopt(head: StreamHead): Promise<void> {
    if (this.#place === undefined) return;
    const bytes = encodePlace(encodeHead(head), 0, 0);
    await this.commits.submit(() => this.overlay.put(this.key, bytes));
    this.#place = { head, index: 0, done: 0, bytes };
  }

  /** Makes the place another one, as a store has it that what is here was copied from; undefined: the stream concerns it no longer. */
  async move(bytes: Bytes | undefined): Promise<void> {
    await this.commits.submit(() => {
      if (bytes === undefined) this.overlay.remove(this.key);
      else this.overlay.put(this.key, bytes);
    });
    this.reload();
  }

  /** Notes a head up to which no command concerned the store. */
  advance(head: StreamHead): void {
    const place = this.#place;
    if (place === undefined || place.head.seq >= head.seq) return;
    const bytes = encodePlace(encodeHead(head), 0, 0);
    this.#place = { head, index: 0, done: 0, bytes };
    const step = (): void => {
      this.#require(place.bytes);
      this.overlay.put(this.key, bytes);
    };
    // Where it fails, so does what was before it, and reading starts again.
    this.commits.submit(step).catch(() => undefined);
  }

  /**
   * Applies a command of a message, unless it is applied already. `isLast` says that no later command of the message is for
   * this store.
   */
  run(
    { before, after, isPatient = false }: Delivery,
    index: number,
    isLast: boolean,
    work: Work,
  ): Promise<Outcome> | undefined {
    const place = this.#place!;
    if (place.head.seq >= after.seq) return undefined;
    const isBegun = place.head.seq === before.seq;
    if (isBegun && place.index > index) return undefined;
    let done = isBegun && place.index === index ? place.done : 0;
    let expected = place.bytes;
    const head = encodeHead(before);
    const last = isLast ? encodePlace(encodeHead(after), 0, 0) : encodePlace(head, index + 1, 0);
    this.#place = isLast
      ? { head: after, index: 0, done: 0, bytes: last }
      : { head: before, index: index + 1, done: 0, bytes: last };
    const step = (): Outcome | typeof unfinished => {
      this.#require(expected);
      const worked = this.#attempt(() => work(done));
      const isDone = !('done' in worked);
      if (!isDone) done = worked.done;
      expected = isDone ? last : encodePlace(head, index, done);
      this.overlay.put(this.key, expected);
      return isDone ? worked : unfinished;
    };
    return this.commits.submit(step, undefined, isPatient);
  }

  #require(expected: Bytes): void {
    if (this.overlay.get(this.key) !== expected) throw new OutOfOrder();
  }

  /** A rejection is an outcome like any other; a failure of this node alone is not. */
  #attempt(work: () => Worked): Worked {
    try {
      return this.overlay.attempt(work);
    } catch (error) {
      const isRejected =
        error instanceof Rejection || (error instanceof RequestError && !(error instanceof StorageError));
      if (!isRejected) throw error;
      return { rejected: error };
    }
  }
}
