import type { Runtime } from '../base/runtime.js';
import { StorageError } from '../base/storage-errors.js';
import { Followers } from '../log/followers.js';
import type { Appended, Log, LogEntry } from '../log/log.js';
import { Rejection } from '../log/rejection.js';
import { unfinished, type GroupCommit } from '../storage/group-commit.js';
import type { Store } from '../storage/store.js';
import { apply } from './apply.js';
import type { Bytes } from '../base/bytes.js';
import type { Command, EditCommand, EditResult, ResultOf, Results } from './commands.js';
import { asPieces, encodedPieces, subId } from './fragments.js';
import { divideEdits, onlyBlobsOf, takeEdits } from './divide-edits.js';
import { decodeGroupState } from './group-state.js';
import { DatabaseKeys } from './keys.js';
import type { Touched, WriteView } from './write-view.js';

/** A command was refused when some of its edits were stored already. */
export class PartlyStored extends StorageError {
  constructor(
    refusal: StorageError,
    /** Of the edits that are stored: the first ones of the command. */
    readonly results: readonly EditResult[],
  ) {
    super(refusal.error as 'service_unavailable', refusal.reason, refusal.cause);
  }
}

/** What the logs of a volume's groups share. */
export interface GroupLogs {
  readonly commits: GroupCommit;
  readonly view: WriteView;
  readonly followers: GroupFollowers;
  /**
   * Whether commands are treated as on the way between machines: encoded and decoded before they are applied, in fragments
   * where they are large, and delivered twice.
   */
  readonly encoded: boolean;
  /** Where ids of commands come from. */
  readonly runtime: Pick<Runtime, 'randomBytes'>;
  readonly route: CommandRoute;
}

/** Where commands go that are applied when they come back from a stream, on every replica; nowhere in the embedded log. */
export interface CommandRoute {
  send?: (group: number, command: Bytes) => Promise<Appended<unknown>>;
  /** Resolves when enough replicas have the files that a command names. */
  spreadBlobs?: (group: number, blobs: readonly string[]) => Promise<void>;
}

/** The followers of groups of a volume. */
export class GroupFollowers {
  readonly #byInstance = new Map<number, Followers<Command>>();

  /** Hands over what a commit brought. */
  deliver(touched: readonly Touched[]): void {
    if (this.#byInstance.size === 0) return;
    for (const { instance, commands } of touched) {
      const followers = this.#byInstance.get(instance);
      followers?.deliver(commands);
      if (followers?.isEmpty) this.#byInstance.delete(instance);
    }
  }

  of(instance: number): Followers<Command> {
    let followers = this.#byInstance.get(instance);
    if (followers === undefined) this.#byInstance.set(instance, (followers = new Followers()));
    return followers;
  }
}

/** The log of one group, embedded in the queue of its volume. */
export class GroupLog implements Log<Command, Results> {
  readonly #keys: DatabaseKeys;

  constructor(
    private readonly logs: GroupLogs,
    private readonly store: () => Store,
    instance: number,
  ) {
    this.#keys = new DatabaseKeys(instance);
  }

  get position(): number {
    return decodeGroupState(this.store().get(this.#keys.group)).position;
  }

  /** What the group knows of the validation functions: see `validators.ts`. */
  get validators(): Bytes {
    return decodeGroupState(this.store().get(this.#keys.group)).validators;
  }

  nextId(): Bytes | undefined {
    return this.logs.encoded ? this.logs.runtime.randomBytes(16).latin1Slice(0, 16) : undefined;
  }

  append<D extends Command>(command: D): Promise<Appended<Results[D['type']]>> {
    const { send } = this.logs.route;
    if (send !== undefined) return this.#sendAll(command, send) as Promise<Appended<Results[D['type']]>>;
    if (command.type === 'edit' && command.edits.length > 1)
      return this.#appendEdits(command) as Promise<Appended<Results[D['type']]>>;
    if (this.logs.encoded) return this.#appendPieces(command) as Promise<Appended<Results[D['type']]>>;
    return this.logs.commits.submit(() => apply(command, this.#keys, this.logs.view));
  }

  follow(after: number): AsyncIterableIterator<LogEntry<Command>> {
    return this.logs.followers.of(this.#keys.instance).follow(after, this.position);
  }

  /** One piece after the other; the result is that of the last. */
  #appendPieces(command: Command): Promise<Appended<unknown>> {
    const pieces = asPieces(command);
    return this.logs.commits.submit(() => {
      // A refused piece stays: it is tried again if the batch that it was refused upon does not reach the disk.
      const appended = this.#deliver(pieces[0]!);
      pieces.shift();
      return pieces.length > 0 ? unfinished : appended;
    });
  }

  /** Applies a command as it arrives; one with an id arrives twice, and must not be noticed the second time. */
  #deliver<C extends Command>(command: C): Appended<ResultOf<C>> {
    const { view } = this.logs;
    const appended = apply(command, this.#keys, view);
    return command.id === undefined ? appended : apply(command, this.#keys, view);
  }

  /**
   * Many edits are applied in parts, each of which is a command for itself. Where some are on disk when the store refuses
   * another, the refusal tells which.
   */
  async #appendEdits(command: EditCommand): Promise<Appended<EditResult[]>> {
    const results: EditResult[] = [];
    const parts: number[] = [];
    let stored = 0;
    const total = command.edits.length;
    const pieces: Command[] = [];
    const step = (): Appended<EditResult[]> | typeof unfinished => {
      if (pieces.length === 0) pieces.push(...this.#nextPart(command, results.length));
      const { position, result } = this.#deliver(pieces[0]!);
      pieces.shift();
      if (pieces.length === 0) for (const each of result as EditResult[]) results.push(each);
      parts.push(results.length);
      return results.length < total ? unfinished : { position, result: results };
    };
    try {
      return await this.logs.commits.submit(step, () => (stored = parts.shift()!));
    } catch (error) {
      if (stored === 0 || !(error instanceof StorageError)) throw error;
      throw new PartlyStored(error, results.slice(0, stored));
    }
  }

  /** Sends a command to the stream, in parts where it is large. */
  async #sendAll(command: Command, send: Send): Promise<Appended<unknown>> {
    const { instance } = this.#keys;
    if (command.instance !== instance) throw new Rejection('a command is of another group');
    const nameUpload = (): Bytes => this.logs.runtime.randomBytes(16).latin1Slice(0, 16);
    const isBulk = command.type === 'edit' && command.edits.length > 1;
    const parts = isBulk ? divideEdits(command) : [command];
    const blobs = command.type === 'edit' ? [...(command.stored_blobs ?? [])] : [];
    const { spreadBlobs } = this.logs.route;
    // Commands with files wait for these; others, which are sent meanwhile, come before them.
    if (blobs.length > 0 && spreadBlobs !== undefined) await spreadBlobs(instance, blobs);
    const sent = parts.map((part) =>
      Promise.all(encodedPieces(part, nameUpload).map((bytes) => send(instance, bytes))),
    );
    const outcomes = await Promise.allSettled(sent);
    if (!isBulk) return valueOf(outcomes[0]!).at(-1)!;
    return await this.#joinEdits(command, outcomes, send);
  }

  /** What was assembled from fragments may have been too much work for one turn: what is left of it is sent again. */
  async #joinEdits(
    command: EditCommand,
    outcomes: readonly PromiseSettledResult<Appended<unknown>[]>[],
    send: Send,
  ): Promise<Appended<EditResult[]>> {
    const results: EditResult[] = [];
    let position = 0;
    try {
      for (const outcome of outcomes) {
        const last = valueOf(outcome).at(-1)!;
        ({ position } = last);
        results.push(...(last.result as EditResult[]));
      }
    } catch (error) {
      if (results.length === 0 || !(error instanceof StorageError)) throw error;
      throw new PartlyStored(error, results);
    }
    if (results.length === command.edits.length) return { position, result: results };
    const rest = onlyBlobsOf(command, command.edits.slice(results.length));
    const more = (await this.#sendAll(rest, send)) as Appended<EditResult[]>;
    return { position: more.position, result: [...results, ...more.result] };
  }

  /** Edits from a place on that go into one command: the pieces that it is sent in. */
  #nextPart(command: EditCommand, from: number): Command[] {
    const edits = takeEdits(command, from);
    const id = command.id === undefined || from === 0 ? command.id : subId(command.id, String(from));
    const named = id === undefined ? command : { ...command, id };
    return this.logs.encoded ? asPieces(onlyBlobsOf(named, edits)) : [{ ...named, edits }];
  }
}

type Send = NonNullable<CommandRoute['send']>;

function valueOf<T>(outcome: PromiseSettledResult<T>): T {
  if (outcome.status === 'rejected') throw outcome.reason as Error;
  return outcome.value;
}
