import type { Bytes } from '../base/bytes.js';
import type { StreamHead, StreamPlace } from './stream-place.js';

/** What became of a command: its result, or why it was rejected, as on every replica. */
export type Outcome = { result: unknown } | { rejected: Error };

/** The commands of a message, and the heads of the stream before and behind it. */
export interface Delivery {
  before: StreamHead;
  after: StreamHead;
  commands: readonly Bytes[];
  /** Whether no caller on this node waits for it: then it may reach the disk some milliseconds later, with others. */
  isPatient?: boolean;
}

/** The stores that a stream is applied to. */
export interface StreamTarget {
  /** The earliest place that one of the stores is at; undefined where none has begun. */
  place(): StreamPlace | undefined;
  /** The latest place that one of them is at. */
  reach(): StreamPlace | undefined;
  /** The heads that the stores have noted. */
  heads(): StreamHead[];
  /** Forgets what is known of the stores, and looks at them again: something was refused. */
  reload(): void;
  /** The last message that is on disk in all of the stores, as a whole; undefined where none has begun. */
  storedSeq(): number | undefined;
  /** Notes the beginning of the stream, on disk. */
  begin(head: StreamHead): Promise<void>;
  /**
   * Applies commands, as soon as all that they need is there. Gives a promise for each, which resolves when its effects are on
   * disk, and rejects where the command has not been applied; undefined for those that were applied before.
   */
  apply(delivery: Delivery): Promise<(Promise<Outcome> | undefined)[]>;
  /** Somebody waits for what was applied so far: it goes to the disk now. */
  hurry(): void;
  /** Notes a head in all stores that have begun, on disk, whatever they have noted before. */
  adopt(head: StreamHead): Promise<void>;
  /** Notes a head in the stores that have not noted it with a command. */
  advance(head: StreamHead): void;
}
