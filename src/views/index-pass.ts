import type { Bytes } from '../base/bytes.js';
import type { ShardState } from '../shard/shard-state.js';
import type { Write } from '../storage/store.js';
import { batchDocsMax, type DocSource, type SourceDoc } from './doc-source.js';
import { IndexBatch } from './index-batch.js';
import { encodeIndexState, type Position } from './index-state.js';
import type { OnProgress } from './index-job.js';
import type { Emitted } from './doc-rows.js';
import type { Mapper } from './mapper-contract.js';
import type { OpenIndex } from './open-index.js';

/** Rows gathered before they are written, and the longest time they wait. */
const gatheredBytesMax = 24 * 1024 * 1024;
const gatheredMs = 10_000;
/** Documents that are handed out ahead, so that the functions have work while a batch is brought into the indexes. */
const aheadBytesMax = 12 * 1024 * 1024;

export interface PassOptions {
  depth: number;
  onProgress: OnProgress;
  /** Throws when the work is no longer wanted. */
  check: () => void;
}

/** Documents on their way through the map functions, and how far the indexes are once they have passed. */
interface Load {
  docs: readonly SourceDoc[];
  bytes: number;
  reached: readonly Position[];
  mapped: Promise<readonly (readonly (readonly Emitted[])[])[]>;
}

/** One walk over what changed since the indexes of a group last looked, up to the counters it was given. */
export class IndexPass {
  readonly #positions: Position[];
  #batches: IndexBatch[];
  /** Whether the indexes are empty: then nothing of a document can be in them, as each shows up once in a pass. */
  readonly #fresh: boolean;
  readonly #total: number;
  #reached: readonly Position[];
  #gatheredAt = Date.now();
  /** The commit under way: rows are gathered meanwhile. */
  #committing: Promise<void> = Promise.resolve();

  constructor(
    private readonly group: readonly OpenIndex[],
    private readonly source: DocSource,
    private readonly mapper: Mapper,
    private readonly states: readonly ShardState[],
    private readonly options: PassOptions,
  ) {
    this.#positions = group[0]!.state.positions.map((position) => ({ ...position }));
    this.#reached = group[0]!.state.positions;
    this.#fresh = this.#positions.every(({ seq, purge_seq }) => seq === 0 && purge_seq === 0);
    this.#batches = this.#newBatches();
    this.#total = this.#positions.reduce((sum, { seq }, shard) => sum + states[shard]!.seq - seq, 0);
  }

  /** Gives whether the pass was read at a single moment, and so left nothing out. */
  async run(): Promise<boolean> {
    const loads = this.#loads();
    const underWay: Load[] = [];
    let ahead = 0;
    let read = 0;
    const takeFirst = async (): Promise<void> => {
      const load = underWay.shift()!;
      ahead -= load.bytes;
      await this.#take(load);
    };
    try {
      for (const { docs, reached } of loads) {
        read++;
        const bytes = docs.reduce((sum, { text }) => sum + (text?.length ?? 0), 0);
        underWay.push({ docs, bytes, reached, mapped: this.#map(docs) });
        ahead += bytes;
        while (underWay.length > this.options.depth && ahead > aheadBytesMax) await takeFirst();
      }
      while (underWay.length > 0) await takeFirst();
      await this.#flush();
      await this.#committing;
    } finally {
      // Whatever failed, the rest must not fail unheard, and nothing is under way when others go on.
      for (const { mapped } of underWay) mapped.catch(() => {});
      await this.#committing.catch(() => {});
    }
    return read <= 1;
  }

  /** Documents in loads of about the same size, whichever shards they are from. */
  *#loads(): Generator<Pick<Load, 'docs' | 'reached'>> {
    let docs: SourceDoc[] = [];
    for (const [shard, position] of this.#positions.entries()) {
      const state = this.states[shard]!;
      position.epoch = state.epoch;
      if (!this.#fresh) docs.push(...this.source.purged(shard, position.purge_seq, state.purge_seq));
      position.purge_seq = state.purge_seq;
      while (position.seq < state.seq) {
        const batch = this.source.changes(shard, position.seq, state.seq);
        for (const doc of batch.docs) docs.push(doc);
        position.seq = batch.seq;
        if (docs.length < batchDocsMax) continue;
        yield { docs, reached: this.#copy() };
        docs = [];
      }
    }
    yield { docs, reached: this.#copy() };
  }

  #copy(): Position[] {
    return this.#positions.map((position) => ({ ...position }));
  }

  #map(docs: readonly SourceDoc[]): Load['mapped'] {
    const texts = docs.flatMap(({ text }) => (text === undefined ? [] : [text]));
    return texts.length === 0 ? Promise.resolve([]) : this.mapper.map(texts);
  }

  async #take({ docs, reached, mapped }: Load): Promise<void> {
    const rows = await mapped;
    this.options.check();
    let at = 0;
    for (const { id, text } of docs) this.#add(id, text === undefined ? undefined : rows[at++]!);
    this.#reached = reached;
    const bytes = this.#batches.reduce((sum, batch) => sum + batch.bytes, 0);
    if (bytes > gatheredBytesMax || Date.now() - this.#gatheredAt > gatheredMs) await this.#flush();
    const left = reached.reduce((sum, { seq }, shard) => sum + this.states[shard]!.seq - seq, 0);
    this.options.onProgress(this.#total - left, this.#total);
  }

  #add(id: Bytes, rows: readonly (readonly Emitted[])[] | undefined): void {
    for (const [i, batch] of this.#batches.entries()) {
      const emitted = rows?.[i] ?? [];
      if (emitted.length > 0 || !this.#fresh) batch.add(id, emitted);
    }
  }

  /** Writes all indexes of the group in one transaction, with how far they are. */
  async #flush(): Promise<void> {
    // The tree is changed as it is in the store.
    await this.#committing;
    const writes: Write[] = [];
    const states = [];
    for (const [i, index] of this.group.entries()) {
      const applied = await this.#batches[i]!.apply(index, this.#fresh);
      for (const write of applied.writes) writes.push(write);
      const state = { positions: this.#reached, tree: applied.tree };
      writes.push({ key: index.keys.state, value: encodeIndexState(state) });
      states.push(state);
    }
    this.options.check();
    this.#committing = this.group[0]!.store.write(writes).committed;
    // Heard by who waits for it next.
    this.#committing.catch(() => {});
    for (const [i, index] of this.group.entries()) index.state = states[i]!;
    this.#batches = this.#newBatches();
    this.#gatheredAt = Date.now();
  }

  #newBatches(): IndexBatch[] {
    return this.group.map(({ order, view }) => new IndexBatch(order, view.partitioned));
  }
}
