import type { Bytes } from '../base/bytes.js';
import type { Store } from '../storage/store.js';
import type { DatabaseKeys } from './keys.js';
import { decodeShardMap, ShardMap } from './shard-map.js';
import { decodeState, goneState, type ShardState } from './shard-state.js';
import type { Touched } from './write-view.js';

/**
 * The shards of a group and their counters, as of the last commit. Where this process writes, commits tell what they have
 * changed. Where another does, they are compared with the store when they are asked for after `reread`.
 */
export class GroupCounters {
  #shards: ShardMap;
  #states: ShardState[];
  #changes = 0;
  /** The map and the counters as they were read, in this order. */
  #stored: (Bytes | undefined)[] = [];
  #isStale = false;

  constructor(
    private readonly store: () => Store,
    private readonly keys: DatabaseKeys,
    /** The shards that the database began with. */
    private readonly q: number,
    /** Called with the former counters when others were found in the store. */
    private readonly onFound: (before: readonly ShardState[]) => void,
  ) {
    this.#shards = this.#readShards();
    this.#states = this.#readStates();
  }

  get shards(): ShardMap {
    if (this.#isStale) this.compare();
    return this.#shards;
  }

  /** By number. */
  get states(): readonly ShardState[] {
    if (this.#isStale) this.compare();
    return this.#states;
  }

  /** Counts the commits in which design documents changed; where another process writes, all that were noticed. */
  get designChanges(): number {
    if (this.#isStale) this.compare();
    return this.#changes;
  }

  set designChanges(count: number) {
    this.#changes = count;
  }

  /** Takes over what a commit changed. Tells whether documents are among it. */
  publish(touched: Touched): boolean {
    let changed = false;
    if (touched.isSplit) {
      this.#shards = touched.shards!;
      this.#states = this.#shards
        .inherit(this.#states)
        .map((state, shard) => (this.#shards.isGone(shard) ? goneState() : state));
    }
    for (const [shard, state] of touched.states) {
      // The targets of a split under way are not visible yet.
      if (shard >= this.#states.length || this.#shards.isGone(shard)) continue;
      if (state.seq !== this.#states[shard]!.seq) changed = true;
      this.#states[shard] = state;
    }
    if (touched.designs) this.#changes++;
    return changed;
  }

  reread(): void {
    this.#isStale = true;
  }

  /** Compares them with the store now. */
  compare(): void {
    this.#isStale = false;
    const before = this.#states;
    const isMapped = this.store().get(this.keys.shardMap) === this.#stored[0];
    if (isMapped && before.every((_, shard) => this.#readState(shard) === this.#stored[shard + 1])) return;
    if (!isMapped) this.#shards = this.#readShards();
    this.#states = this.#readStates();
    this.#changes++;
    this.onFound(before);
  }

  #readShards(): ShardMap {
    this.#stored = [this.store().get(this.keys.shardMap)];
    return decodeShardMap(this.#stored[0]) ?? new ShardMap(this.q);
  }

  #readStates(): ShardState[] {
    return Array.from({ length: this.#shards.size }, (_, shard) => {
      const stored = (this.#stored[shard + 1] = this.#readState(shard));
      return this.#shards.isGone(shard) ? goneState() : decodeState(stored);
    });
  }

  #readState(shard: number): Bytes | undefined {
    return this.#shards.isGone(shard) ? undefined : this.store().get(this.keys.state(shard));
  }
}
