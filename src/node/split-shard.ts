import type { SplitCommand, SplitProgress, SplitStep } from '../shard/commands.js';
import { leftovers } from '../shard/apply-split.js';
import type { LocalReader } from '../shard/group-reader.js';
import type { CopiedTable, Split } from '../shard/split.js';
import type { Database } from './database.js';
import { splitStates, type SplitState } from './reshard-job.js';
import type { ReshardWork } from './reshard-run.js';

/** Records that one command copies or removes at most: few, so that writers hardly notice. */
const stepRecords = 500;

/** The largest number that a key holds. */
const numberMax = 2 ** 48 - 1;

/**
 * Splits one shard, state by state. Each may be entered again after a crash, for what is done already is known from the
 * database itself.
 *
 * Documents, their bodies, local documents and the rows of indexes stay in place; so some of the states, which the interface
 * has and others need, have nothing to do here.
 */
export class ShardSplit implements ReshardWork {
  readonly task = 'shard_splitting';
  #copied = 0;

  constructor(
    private readonly database: Database,
    private readonly shard: number,
    /** Throws when the work is to end. */
    private readonly check: () => void,
    private readonly onCopied: (records: number) => void = () => {},
  ) {}

  get total(): number {
    return this.database.collection.states[this.shard]?.seq ?? 0;
  }

  from(state: SplitState): number {
    return Math.max(0, splitStates.indexOf(state as 'initial_copy'));
  }

  async enter(state: SplitState): Promise<void> {
    if (state === 'initial_copy') {
      await this.#clear();
      await this.#begin();
      await this.#copy('changes');
    }
    if (state === 'topoff1') await this.#copy('purges');
    if (state === 'update_shardmap') await this.#swap();
    if (state === 'source_delete') await this.#clear();
    this.check();
  }

  /** Lets go of a split whose targets don't count yet. What they hold is removed by `clear`, or by the next split. */
  async abort(): Promise<boolean> {
    if (this.database.collection.shards.isGone(this.shard)) return false;
    if (this.#current?.source === this.shard && this.#current.phase === 'copying') await this.#step('abort');
    return true;
  }

  end(): void {}

  /** Removes what a split has left over. */
  async clear(): Promise<void> {
    if (this.#current?.source === this.shard) await this.#clear();
  }

  get #current(): Split | undefined {
    const reader: LocalReader = this.database.collection;
    return reader.splitNear(this.shard);
  }

  async #begin(): Promise<void> {
    this.check();
    await this.#step('begin', { of: this.database.collection.shards.size });
  }

  /** After a crash in a later state, there is nothing left to be copied; after a stop, there may be. */
  async #swap(): Promise<void> {
    await this.#begin();
    await this.#copy('changes');
    await this.#copy('purges');
    this.check();
    await this.#step('swap');
  }

  async #copy(table: CopiedTable): Promise<void> {
    for (;;) {
      const split = this.#current;
      if (split?.source !== this.shard || split.phase !== 'copying') return;
      const { at, until } = split[table];
      if (table === 'changes') this.#tell(at);
      if (at >= until) return;
      this.check();
      const numbers = this.#numbers(table, this.shard, at + 1, until);
      const upTo = numbers.length < stepRecords ? until : numbers.at(-1)!;
      await this.#step('copy', { table, numbers, after: at, upTo });
      await this.database.runtime.nextTurn();
    }
  }

  #tell(copied: number): void {
    this.onCopied(copied - this.#copied);
    this.#copied = copied;
  }

  /** Removes what this split, or one before it that was broken off, has left over. */
  async #clear(): Promise<void> {
    const found = this.#current;
    if (found === undefined) return;
    const { source } = found;
    if (found.phase === 'copying') {
      if (source === this.shard) return;
      await this.#step('abort', { shard: source });
    }
    const split = this.#current;
    if (split === undefined) return;
    for (const of of leftovers(split)) {
      for (const table of ['changes', 'purges'] as const) {
        for (;;) {
          this.check();
          const numbers = this.#numbers(table, of, 0, numberMax - 1);
          if (numbers.length === 0) break;
          await this.#step('remove', { shard: source, of, table, numbers });
          await this.database.runtime.nextTurn();
        }
      }
    }
    await this.#step('end', { shard: source });
  }

  #numbers(table: CopiedTable, shard: number, first: number, last: number): number[] {
    return this.database.collection.numbers(table, shard, { first, last, limit: stepRecords });
  }

  #step(step: SplitStep, more: Partial<SplitCommand> = {}): Promise<SplitProgress> {
    const { instance, q } = this.database.record;
    return this.database.submit<SplitCommand>({
      type: 'split',
      instance,
      shard: this.shard,
      step,
      q,
      table: 'changes',
      numbers: [],
      after: 0,
      upTo: 0,
      of: 0,
      ...more,
    });
  }
}
