import type { Bytes } from '../base/bytes.js';
import { prefixEnd, type NumberedEntry } from '../storage/store.js';
import { decodeChange } from './change-record.js';
import type { GroupCounters } from './group-counters.js';
import type { ChangesQuery } from './group-reader.js';
import type { KeyRange } from './key-range.js';
import type { DatabaseKeys } from './keys.js';
import { LiveRank } from './live-rank.js';
import type { ShardState } from './shard-state.js';
import type { Volume } from './volume.js';
import type { LiveDelta, Touched } from './write-view.js';

/** Where more documents have changed, all are counted anew. */
const recountedMax = 500;

/** What ranks are made of. */
interface RankedGroup {
  readonly volume: Volume;
  readonly keys: DatabaseKeys;
  readonly counters: GroupCounters;
  changes(shard: number, query: ChangesQuery): NumberedEntry[];
}

/** How many documents of a group stand before a key, and how many changes. */
export class GroupRanks {
  readonly docs: LiveRank;
  #changes: LiveRank | undefined;
  /** Whether another process writes. */
  isShared = false;
  #isOld = false;

  constructor(private readonly group: RankedGroup) {
    const { volume, keys, counters } = group;
    const source = {
      get store() {
        return volume.store;
      },
      runtime: volume.runtime,
      runBetweenCommits: (work: () => void) =>
        volume.runBetweenCommits(() => {
          // What changes is taken over step by step: all that came during the pass would be too much.
          if (this.isShared) counters.compare();
          work();
        }),
    };
    this.docs = new LiveRank(source, keys.livePrefix, prefixEnd(keys.livePrefix));
  }

  /** Takes over what a commit changed. */
  apply({ live, moves }: Touched): void {
    this.docs.apply(live);
    if (this.#changes !== undefined) this.#changes.apply(this.#deltas(moves));
  }

  /** Takes over what another process has changed since these counters were read. */
  follow(before: readonly ShardState[]): void {
    this.#isOld = true;
    if (!this.docs.isBegun) return;
    const keys = this.#changedKeys(before);
    if (keys === undefined) this.docs.restart();
    else this.docs.recount(keys);
  }

  /** The rank of changes in their table is only maintained from the first call on; not at all where another process writes. */
  async changesReady(): Promise<void> {
    const { volume, keys } = this.group;
    const { start, end } = keys.changesRange;
    if (this.#isOld) this.#changes = undefined;
    this.#isOld = false;
    await (this.#changes ??= new LiveRank(volume, start, end)).ready();
  }

  changesIn({ start, end }: KeyRange): number {
    return this.#changes!.before(end) - this.#changes!.before(start);
  }

  #deltas(moves: readonly number[]): LiveDelta[] {
    const { keys } = this.group;
    const deltas: LiveDelta[] = [];
    for (let i = 0; i < moves.length; i += 3) {
      const shard = moves[i]!;
      if (moves[i + 1]! > 0) deltas.push({ key: keys.change(shard, moves[i + 1]!), by: 1 });
      if (moves[i + 2]! > 0) deltas.push({ key: keys.change(shard, moves[i + 2]!), by: -1 });
    }
    return deltas;
  }

  /** The keys of all documents that have come or gone, and of others; undefined for too many, or where that cannot be told. */
  #changedKeys(before: readonly ShardState[]): Bytes[] | undefined {
    const { counters, keys } = this.group;
    const { states } = counters;
    if (before.length !== states.length) return undefined;
    const found: Bytes[] = [];
    for (const [shard, { seq, epoch, purge_seq }] of states.entries()) {
      const old = before[shard]!;
      if (epoch !== old.epoch || purge_seq !== old.purge_seq) return undefined;
      const query = { after: old.seq, upTo: seq, descending: false, limit: recountedMax + 1 };
      for (const { value } of this.group.changes(shard, query)) found.push(keys.live(decodeChange(value).id));
      if (found.length > recountedMax) return undefined;
    }
    return found;
  }
}
