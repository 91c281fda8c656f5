import type { Bytes } from '../base/bytes.js';
import type { Runtime } from '../base/runtime.js';
import { compareBytes } from '../json/compare-keys.js';
import { idKey, isHashedKey } from '../shard/keys.js';
import type { ShardState } from '../shard/shard-state.js';
import type { Write } from '../storage/store.js';
import { batchDocsMax, type DocSource, type SourceDoc } from './doc-source.js';
import { IndexBatch, type AppliedBatch, type Batch } from './index-batch.js';
import { encodeIndexState, followShards, settlePositions, type Position } from './index-state.js';
import type { OnProgress } from './index-job.js';
import type { Emitted } from './doc-rows.js';
import type { Mapped, Mapper } from './mapper-contract.js';
import type { OpenIndex } from './open-index.js';
import { SearchBatch } from './search-batch.js';

/**
 * Rows gathered before they are written: half of what the trees hold, within these bounds. Each batch touches most leaves of a tree
 * whose keys come in no order, so larger trees want larger batches. And the longest time that rows wait.
 */
const gatheredBytesMin = 12 * 1024 * 1024;
const gatheredBytesMax = 48 * 1024 * 1024;
/** The same for search indexes, which take several times as much memory while a batch is applied. */
const gatheredBytesSearch = 24 * 1024 * 1024;
/** Enough while other indexes are filled, too. */
const gatheredBytesShared = 4 * 1024 * 1024;
const gatheredMs = 10_000;
/** Documents that are handed out ahead, so that the functions have work while a batch is brought into the indexes. */
const aheadBytesMax = 12 * 1024 * 1024;
/** What is handed out at once: enough to keep the functions busy while this thread is. */
const handedDocsMax = 4_000;
const handedBytesMax = 2 * 1024 * 1024;
/** Progress is told no more often than this. */
const tellMs = 50;
/** Longer passes are told of before their first documents are done, which may take a while. */
const toldDocsMin = 1_000;

export interface PassOptions {
  runtime: Runtime;
  depth: number;
  onProgress: OnProgress;
  /** Throws when the work is no longer wanted. */
  check: () => void;
  /** Whether other indexes are being filled at the same time. */
  hasOthers: () => boolean;
  /** Told of documents that have no rows of a view because its function exceeds its limits; throws where that is enough. */
  onExceeded: (index: OpenIndex, docId: string) => void;
}

/** Documents on their way through the map functions, and how far the indexes are once they have passed. */
interface Load {
  /** Ids, and whether there is something to be indexed of a document. */
  docs: readonly { id: Bytes; isLive: boolean }[];
  bytes: number;
  reached: readonly Position[];
  mapped: Promise<Mapped>;
}

const nothing: Mapped = { rows: () => Promise.resolve([]) };

/** One walk over what changed since the indexes of a group last looked, up to the counters it was given. */
export class IndexPass {
  readonly #positions: Position[];
  readonly #starts: readonly number[];
  #batches: Batch[];
  /** Whether the indexes are empty: then nothing of a document can be in them, as each shows up once in a pass. */
  readonly #fresh: boolean;
  readonly #total: number;
  #reached: readonly Position[];
  #gatheredAt: number;
  /** All documents of the batches, as they came. */
  #ids: Bytes[] = [];
  /** The commit under way: rows are gathered meanwhile. */
  #committing: Promise<void> = Promise.resolve();
  /** What it writes, but for the notes. */
  #recent: ReadonlyMap<Bytes, Bytes | undefined> = new Map();
  /** The store as it will be when the commit is through. */
  readonly #onItsWay = {
    get: (key: Bytes) => (this.#recent.has(key) ? this.#recent.get(key) : this.group[0]!.store.get(key)),
  };
  #toldAt = 0;

  constructor(
    private readonly group: readonly OpenIndex[],
    private readonly source: DocSource,
    private readonly mapper: Mapper,
    private readonly states: readonly ShardState[],
    private readonly options: PassOptions,
  ) {
    this.#positions = followShards(group[0]!.state, source.shards);
    this.#reached = group[0]!.state.positions;
    this.#starts = this.#positions.map(({ seq }) => seq);
    this.#fresh = this.#positions.every(({ seq, purge_seq }) => seq === 0 && purge_seq === 0);
    this.#batches = this.#newBatches();
    this.#gatheredAt = options.runtime.monotonicMs();
    this.#total = this.#positions.reduce((sum, { seq }, shard) => sum + states[shard]!.seq - seq, 0);
  }

  /** Gives whether the pass was read at a single moment, and so left nothing out. */
  async run(): Promise<boolean> {
    if (this.#total >= toldDocsMin) this.options.onProgress(0, this.#total);
    const loads = this.#loads();
    const underWay: Load[] = [];
    const most = this.mapper.isElsewhere ? aheadBytesMax : 0;
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
        const load = this.#hand(docs, reached);
        underWay.push(load);
        ahead += load.bytes;
        while (underWay.length > this.options.depth && ahead > most) await takeFirst();
      }
      while (underWay.length > 0) await takeFirst();
      if (this.#reached !== this.group[0]!.state.positions) await this.#flush();
      await this.#committing;
    } catch (error) {
      // A commit that failed counts most: the state of the indexes is then ahead of their store.
      await this.#committing;
      throw error;
    }
    return read <= 1;
  }

  /**
   * Documents in loads of about the same size. The shards keep step with each other, so that documents come in about the
   * order in which they were written: what grows with time, as ids and dates often do, then grows at its end only.
   */
  *#loads(): Generator<{ docs: SourceDoc[]; reached: readonly Position[] }> {
    const docsMax = this.mapper.isElsewhere ? handedDocsMax : batchDocsMax;
    let docs = this.#purged();
    let bytes = 0;
    let isRead = true;
    for (let shard = this.#mostBehind(); shard !== undefined; shard = this.#mostBehind()) {
      const position = this.#positions[shard]!;
      const batch = this.source.changes(shard, position.seq, this.states[shard]!.seq);
      for (const doc of batch.docs) {
        docs.push(doc);
        bytes += doc.text?.length ?? 0;
      }
      position.seq = batch.seq;
      isRead = true;
      if (docs.length < docsMax && bytes < handedBytesMax) continue;
      yield { docs, reached: this.#copy() };
      docs = [];
      bytes = 0;
      isRead = false;
    }
    if (isRead) yield { docs, reached: this.#copy() };
  }

  #purged(): SourceDoc[] {
    const docs: SourceDoc[] = [];
    for (const [shard, position] of this.#positions.entries()) {
      const { epoch, purge_seq } = this.states[shard]!;
      position.epoch = epoch;
      if (!this.#fresh) docs.push(...this.source.purged(shard, position.purge_seq, purge_seq));
      position.purge_seq = purge_seq;
    }
    return docs;
  }

  /** The shard of which the largest part is still to be read; undefined where nothing is. */
  #mostBehind(): number | undefined {
    let mostBehind: number | undefined;
    let most = 0;
    for (const [shard, { seq }] of this.#positions.entries()) {
      const left = (this.states[shard]!.seq - seq) / (this.states[shard]!.seq - this.#starts[shard]!);
      if (left > most) [mostBehind, most] = [shard, left];
    }
    return mostBehind;
  }

  #copy(): Position[] {
    return settlePositions(
      this.#positions.map((position) => ({ ...position })),
      this.source.shards,
    );
  }

  /** Sends documents on their way. Their texts are not kept here. */
  #hand(docs: readonly SourceDoc[], reached: readonly Position[]): Load {
    const texts: Bytes[] = [];
    let bytes = 0;
    for (const { text } of docs) {
      if (text === undefined) continue;
      texts.push(text);
      bytes += text.length;
    }
    const mapped = texts.length === 0 ? Promise.resolve(nothing) : this.mapper.map(texts);
    // It may fail while others before it are waited for: an unhandled rejection would end the thread.
    mapped.catch(() => {});
    return { docs: docs.map(({ id, text }) => ({ id, isLive: text !== undefined })), bytes, reached, mapped };
  }

  async #take({ docs, reached, mapped }: Load): Promise<void> {
    const result = await mapped;
    for (const { map, id } of result.exceeded ?? []) this.options.onExceeded(this.group[map]!, id);
    const rows = await result.rows();
    this.options.check();
    const slice = this.options.runtime.slice();
    let at = 0;
    for (const { id, isLive } of docs) {
      const added = this.#add(id, isLive ? rows[at++]! : undefined);
      if (added !== undefined) await added;
      if (slice.isOver) await slice.next();
    }
    this.#reached = reached;
    const bytes = this.#batches.reduce((sum, batch) => sum + batch.bytes, 0);
    if (bytes > this.#enough() || this.options.runtime.monotonicMs() - this.#gatheredAt > gatheredMs)
      await this.#flush();
    this.#tell(reached);
  }

  #enough(): number {
    // A commit holds up those of other indexes.
    if (this.options.hasOthers()) return gatheredBytesShared;
    if (this.group.every(({ isSearch }) => isSearch)) return gatheredBytesSearch;
    const held = this.group.reduce((sum, { state }) => sum + state.tree.bytes, 0);
    return Math.min(gatheredBytesMax, Math.max(gatheredBytesMin, held / 2));
  }

  #tell(reached: readonly Position[]): void {
    const now = this.options.runtime.monotonicMs();
    const left = reached.reduce((sum, { seq }, shard) => sum + Math.max(0, this.states[shard]!.seq - seq), 0);
    if (left > 0 && now - this.#toldAt < tellMs) return;
    this.#toldAt = now;
    this.options.onProgress(this.#total - left, this.#total);
  }

  /** Gives a promise where there are many rows. */
  #add(id: Bytes, rows: readonly (readonly Emitted[])[] | undefined): void | Promise<unknown> {
    this.#ids.push(id);
    let adding: Promise<void>[] | undefined;
    for (const [i, batch] of this.#batches.entries()) {
      const emitted = rows?.[i] ?? [];
      const added = emitted.length > 0 || !this.#fresh ? batch.add(id, emitted) : undefined;
      if (added !== undefined) (adding ??= []).push(added);
    }
    if (adding !== undefined) return Promise.all(adding);
  }

  /** Writes all indexes of the group in one transaction, with how far they are. */
  async #flush(): Promise<void> {
    // Where nothing but the trees is looked at, that need not wait for the commit under way.
    if (!this.#fresh) await this.#committing;
    const writes: Write[] = [];
    const states = [];
    const notes: AppliedBatch['notes'][] = [];
    const ids = inOrderOfKeys(this.#ids);
    for (const [i, index] of this.group.entries()) {
      const applied = await this.#batches[i]!.apply(index, this.#onItsWay, ids, this.#fresh);
      for (const write of applied.writes) writes.push(write);
      notes.push(applied.notes);
      const state = { ...index.state, positions: this.#reached, tree: applied.tree };
      writes.push({ key: index.keys.state, value: encodeIndexState(state) });
      states.push(state);
      // What the functions have done meanwhile is heard of, and they get more to do.
      await this.options.runtime.nextTurn();
    }
    await this.#committing;
    this.options.check();
    this.#recent = new Map(writes.map(({ key, value }) => [key, value]));
    for (const ofIndex of notes) for (const note of await ofIndex()) writes.push(note);
    this.#committing = this.group[0]!.store.write(writes).committed;
    // The error is thrown to the next caller that waits for it.
    this.#committing.catch(() => {});
    for (const [i, index] of this.group.entries()) index.state = states[i]!;
    this.#batches = this.#batches.map((batch) => batch.next());
    this.#ids = [];
    this.#gatheredAt = this.options.runtime.monotonicMs();
  }

  #newBatches(): Batch[] {
    return this.group.map(({ isSearch, order, view }) =>
      isSearch
        ? new SearchBatch(view, this.options.runtime)
        : new IndexBatch(order, view.partitioned, this.options.runtime),
    );
  }
}

/** Ids as the store has their keys, each once. */
function inOrderOfKeys(ids: Bytes[]): Bytes[] {
  if (ids.some(isHashedKey)) ids.sort((a, b) => compareBytes(idKey(a), idKey(b)));
  else ids.sort();
  return ids.filter((id, at) => at === 0 || id !== ids[at - 1]);
}
