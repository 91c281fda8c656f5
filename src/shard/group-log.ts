import { StorageError } from '../base/storage-errors.js';
import { Followers } from '../log/followers.js';
import type { Appended, Log, LogEntry } from '../log/log.js';
import { unfinished, type GroupCommit } from '../storage/group-commit.js';
import type { Store } from '../storage/store.js';
import { apply } from './apply.js';
import { decodeCommand, encodeCommand } from './command-codec.js';
import type { Command, EditCommand, EditResult, Results } from './commands.js';
import { decodeGroupState } from './group-state.js';
import { DatabaseKeys } from './keys.js';
import type { Touched, WriteView } from './write-view.js';

/** Edits of one command that are applied together at most. */
const editsAtOnce = 1_000;

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
  /** Whether commands are encoded and decoded before they are applied, as they are on the way between machines. */
  readonly encoded: boolean;
}

/** Those who follow groups of a volume. */
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

  append<D extends Command>(given: D): Promise<Appended<Results[D['type']]>> {
    const command = this.logs.encoded ? (decodeCommand(encodeCommand(given)) as D) : given;
    if (command.type === 'edit' && command.edits.length > 1)
      return this.#appendEdits(command) as Promise<Appended<Results[D['type']]>>;
    return this.logs.commits.submit(() => apply(command, this.#keys, this.logs.view));
  }

  follow(after: number): AsyncIterableIterator<LogEntry<Command>> {
    return this.logs.followers.of(this.#keys.instance).follow(after, this.position);
  }

  /**
   * Many edits are applied in parts, each of which is a command for itself. Where some are on disk when the store refuses
   * another, the refusal tells which.
   */
  async #appendEdits(command: EditCommand): Promise<Appended<EditResult[]>> {
    const results: EditResult[] = [];
    const parts: number[] = [];
    let stored = 0;
    const { edits } = command;
    const step = (): Appended<EditResult[]> | typeof unfinished => {
      const part = edits.slice(results.length, results.length + editsAtOnce);
      const { position, result } = apply({ ...command, edits: part }, this.#keys, this.logs.view);
      for (const each of result) results.push(each);
      parts.push(results.length);
      return results.length < edits.length ? unfinished : { position, result: results };
    };
    try {
      return await this.logs.commits.submit(step, () => (stored = parts.shift()!));
    } catch (error) {
      if (stored === 0 || !(error instanceof StorageError)) throw error;
      throw new PartlyStored(error, results.slice(0, stored));
    }
  }
}
