import type { Bytes } from '../base/bytes.js';

/**
 * A log puts the changes of one state machine in an order and makes them durable.
 *
 * There are two kinds of state machine: a *group*, the shards of a database that live together (today: all of them), and
 * the *catalogue*, the list of databases. Whatever changes one of them is a *command*: plain data, never a function. A
 * command holds all that its outcome depends on beside the state itself. Ids, times and random numbers are drawn and
 * functions of users are run before the command is made; so applying the same commands in the same order gives the same
 * bytes on every replica. What concerns only one node goes to its journal instead (`journal.ts`).
 *
 * What every implementation guarantees (`test/log/log-suite.ts` checks it):
 *
 * - `append` resolves when the command is durable and applied, with its position and its result. Reads that begin after
 *   that see it.
 * - Positions of a log begin at 1 and increase by one with each command. A command that is rejected has no position and
 *   leaves no trace. A rejection may depend on commands before it; it is reported only when those are durable.
 * - Commands are applied in the order of the calls of `append`.
 * - `append` may divide a command that is too large to be applied at once, or to be carried. Each part is then a command with
 *   its own position; the promise resolves with the position of the last part and the results of all of them.
 * - A log that carries commands as bytes carries none of more than `commandBytesMax`, and may deliver one several times. Its
 *   commands have ids (`nextId`): one that is delivered again has no position of its own, changes nothing, and gets the
 *   position and the result that it had, as long as it is among the last ones (`shard/command-window.ts`).
 * - `follow` gives the commands as they were applied, in order and without gaps, each only when it is durable. A replica
 *   that applies them to the state as of `after` has the same state.
 *
 * The embedded logs (`shard/group-log.ts`, `node/catalogue-log.ts`) have both ends in one process and pass command objects
 * as they are, of any size and without ids. Where they are told to (`encoded`), every command is encoded and decoded first,
 * as a log between machines would do, and commands of groups are divided, named and delivered twice; the tests run in both
 * ways.
 */
export interface Log<C extends { type: keyof R }, R> {
  append<D extends C>(command: D): Promise<Appended<R[D['type']]>>;
  /** An id for the next command; undefined where none is needed, as the log repeats nothing. */
  nextId?(): Bytes | undefined;
  /** The position of the last durable command; 0 where there is none. */
  readonly position: number;
  /**
   * The commands behind a position, without end; leaving the loop ends it. Throws `LogTruncated` where the log no longer
   * has the first of them, and when the reader falls too far behind: then it has to copy the state.
   */
  follow(after: number): AsyncIterableIterator<LogEntry<C>>;
}

/** The bytes of a command, encoded, that a log takes at most. */
export const commandBytesMax = 512 * 1024;

export interface Appended<T> {
  position: number;
  result: T;
}

export interface LogEntry<C> {
  position: number;
  command: C;
}

/** The log does not hold the commands that a follower needs next. */
export class LogTruncated extends Error {
  constructor(
    readonly after: number,
    reason: string,
  ) {
    super(`the log cannot be followed from position ${after}: ${reason}`);
  }
}
