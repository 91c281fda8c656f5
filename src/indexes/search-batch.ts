import { asBytes, noBytes, type Bytes } from '../base/bytes.js';
import { sortInSlices } from '../base/sort-in-slices.js';
import type { Runtime } from '../base/runtime.js';
import type { TimeSlice } from '../base/turns.js';
import { compareBytes } from '../json/compare-keys.js';
import { makeAnalyzer } from '../search/analysis/analyzer.js';
import { BlockWriter, rawPostings } from '../search/posting-block.js';
import {
  counterKey,
  docKey,
  encodeDoc,
  isBlockKind,
  kindOf,
  partitionPrefix,
  readDocNumber,
} from '../search/postings.js';
import { partitionOf } from '../shard/doc-id.js';
import type { Store, Write } from '../storage/store.js';
import { analyzerOf, type ViewDefinition } from './definition.js';
import type { Emitted } from './doc-rows.js';
import type { AppliedBatch, Batch } from './index-batch.js';
import type { OpenIndex } from './open-index.js';
import { PostingLog } from './posting-log.js';
import { blockRow, blocksOf, changeBlocks, pushBlocks } from './search-blocks.js';
import { SearchFields } from './search-fields.js';
import { decodeNote, encodeNote } from './search-notes.js';
import { DocNumbers } from './search-numbers.js';
import type { Row, RowKey } from './tree/row.js';
import type { TreeReader } from './tree/tree-reader.js';

/** What a document takes in memory beside its texts, roughly. */
const docOverheadBytes = 300;
/** What is kept for the next batch, at most: so much the less has room in it. */
const keptFieldsBytesMax = 1024 * 1024;
const keptTermsBytesMax = 16 * 1024 * 1024;
const keptWordsBytesMax = 4 * 1024 * 1024;
/** Documents of a term that is kept. */
const keptDocsMin = 2;

/** What a search index is to have of a document, and its place in the log; undefined for one that is to have nothing. */
interface BatchDoc {
  logged: number;
  values: Bytes;
  vectors: ReadonlyMap<Bytes, Bytes>;
}

/** Rows of a key that come and go, each in the order of their ids. */
interface RowChanges {
  inserts: Row[];
  removals: RowKey[];
}

/** The documents of a batch in the index. */
interface Numbered {
  /** By their places in the log; 0 for those that don't count. */
  numberOf: Uint32Array;
  /** Those that are not in postings any more, or are to be put there again, by the keys of these. */
  removed: Map<Bytes, number[]>;
  /** Rows that are no postings, by their keys. */
  rows: Map<Bytes, RowChanges>;
  notes: Map<Bytes, Write>;
}

/** Documents and their terms, gathered until it pays to bring them into a search index. Of a document, what came last counts. */
export class SearchBatch implements Batch {
  readonly #docs = new Map<Bytes, BatchDoc | undefined>();
  #log = new PostingLog();
  #fields: SearchFields | undefined;
  #docBytes = 0;
  /** Terms of several documents, in the order of their keys. */
  #common = new Uint32Array();

  constructor(
    private readonly view: ViewDefinition,
    private readonly runtime: Runtime,
  ) {}

  get bytes(): number {
    const { fieldBytes = 0, wordBytes = 0 } = this.#fields ?? {};
    return this.#docBytes + this.#log.bytes + fieldBytes + wordBytes;
  }

  async add(id: Bytes, calls: readonly Emitted[]): Promise<void> {
    this.#docBytes += id.length + docOverheadBytes;
    if (calls.length === 0) {
      this.#docs.set(id, undefined);
      return;
    }
    this.#fields ??= await this.#newFields();
    const isText = this.view.map.kind === 'text';
    const prefix = this.#prefix(id);
    const slice = this.runtime.slice();
    const values = await (isText
      ? this.#fields.addValues(prefix, id, calls, slice)
      : this.#fields.add(prefix, id, calls, slice));
    const logged = this.#log.endDoc();
    const { vectors } = this.#fields;
    this.#docBytes += values.length;
    for (const vector of vectors.values()) this.#docBytes += vector.length;
    this.#docs.set(id, { logged, values, vectors });
  }

  /** Terms of several documents of this batch are known to the next one: words need not be looked at again. */
  next(): SearchBatch {
    const next = new SearchBatch(this.view, this.runtime);
    if (this.#fields === undefined || this.#fields.fieldBytes > keptFieldsBytesMax) return next;
    if (this.#log.keys.size_bytes > keptTermsBytesMax) return next;
    this.#fields.restart(this.#log.restart(this.#common));
    if (this.#fields.wordBytes > keptWordsBytesMax) return next;
    next.#fields = this.#fields;
    next.#log = this.#log;
    return next;
  }

  async #newFields(): Promise<SearchFields> {
    return new SearchFields(
      this.#log,
      await makeAnalyzer(analyzerOf(this.view.map)),
      this.runtime.randomBelow(2 ** 32),
    );
  }

  #prefix(id: Bytes): Bytes {
    return partitionPrefix(this.view.partitioned ? partitionOf(id) : undefined);
  }

  async apply(
    index: OpenIndex,
    store: Pick<Store, 'get'>,
    ids: readonly Bytes[],
    fresh: boolean,
  ): Promise<AppliedBatch> {
    const tree = index.reader(store);
    const numbers = new DocNumbers(tree);
    const firstNew = numbers.following;
    const slice = this.runtime.slice();
    const numbered = await this.#number(index, numbers, fresh, slice);
    if (numbers.following > firstNew) numbered.rows.set(counterKey, { inserts: [numbers.row], removals: [] });
    const { inserts, removals } = await this.#changes(tree, numbered, firstNew, slice);
    const notes = ids.flatMap((id) => numbered.notes.get(id) ?? []);
    if (inserts.length === 0 && removals.length === 0)
      return { writes: [], notes: () => notes, tree: index.state.tree };
    const { writes, state } = await index.writer(store).update(removals, inserts, !fresh);
    return { writes, notes: () => notes, tree: state };
  }

  /** Gives documents their numbers, and notes what becomes of those that have one. */
  async #number(index: OpenIndex, numbers: DocNumbers, fresh: boolean, slice: TimeSlice): Promise<Numbered> {
    const numberOf = new Uint32Array(this.#log.docs);
    const numbered: Numbered = { numberOf, removed: new Map(), rows: new Map(), notes: new Map() };
    for (const [id, doc] of this.#docs) {
      if (slice.isOver) await slice.next();
      const key = index.keys.doc(id);
      const noted = fresh ? undefined : index.store.get(key);
      const before = noted === undefined ? undefined : decodeNote(noted);
      if (before !== undefined) noteRemoved(before, doc?.vectors, numbered);
      if (doc === undefined && before === undefined) continue;
      const number = before?.number ?? numbers.next();
      const row = { key: asBytes(this.#prefix(id) + docKey), id: number, n: 0, keyText: noBytes };
      const { inserts, removals } = changesOf(numbered.rows, row.key);
      if (doc === undefined) removals.push(row);
      else inserts.push({ ...row, value: encodeDoc(id, doc.values) });
      for (const [vector, value] of doc?.vectors ?? [])
        changesOf(numbered.rows, vector).inserts.push({ ...row, key: vector, value });
      if (doc !== undefined) numberOf[doc.logged] = readDocNumber(number);
      const note = doc && encodeNote(number, this.#log.terms(doc.logged), this.#log.keys);
      if (note !== noted) numbered.notes.set(id, { key, value: note });
    }
    return numbered;
  }

  /** All rows that come and go, in the order of the tree. */
  async #changes(
    tree: TreeReader,
    { numberOf, removed, rows }: Numbered,
    firstNew: number,
    slice: TimeSlice,
  ): Promise<RowChanges> {
    const changes: RowChanges = { inserts: [], removals: [] };
    const log = this.#log.sorted(numberOf);
    const writer = new BlockWriter();
    const common: number[] = [];
    for (const key of await this.#keysInOrder(removed, rows)) {
      if (slice.isOver) await slice.next();
      const plain = rows.get(key);
      if (plain !== undefined) {
        for (const row of plain.inserts.sort(byId)) changes.inserts.push(row);
        for (const row of plain.removals.sort(byId)) changes.removals.push(row);
        continue;
      }
      const term = this.#log.keys.known(key);
      if (term !== undefined && this.#log.docsOf(term) >= keptDocsMin) common.push(term);
      const run = term === undefined || removed.has(key) ? undefined : log.run(term);
      if (run !== undefined && run[0] === run[1]) continue;
      if (run !== undefined && log.doc(run[0]) >= firstNew) {
        pushBlocks(log, run, writer, key, changes.inserts);
        continue;
      }
      const slots = term === undefined ? [] : log.slots(term);
      const isOld = (slot: number): boolean => log.doc(slot) < firstNew;
      const old = slots.length > 0 && isOld(slots[0]!) ? slots.filter(isOld) : [];
      const gone = removed.get(key) ?? [];
      if (gone.length > 0 || old.length > 0) {
        const postings = [...blocksOf(log, old, writer)].flatMap(rawPostings);
        changeBlocks(tree, key, gone, postings, changes);
      }
      // New documents stand behind all others.
      for (const block of blocksOf(log, slots.slice(old.length), writer))
        changes.inserts.push(blockRow(key, block));
    }
    this.#common = Uint32Array.from(common);
    return changes;
  }

  /** All keys that the batch has to do with, and those that it knows from the one before. */
  async #keysInOrder(
    removed: ReadonlyMap<Bytes, unknown>,
    rows: ReadonlyMap<Bytes, unknown>,
  ): Promise<readonly Bytes[]> {
    const { strings, inOrder } = this.#log.keys;
    const others = new Set(strings.slice(inOrder));
    for (const keys of [removed, rows])
      for (const key of keys.keys()) if (!((this.#log.keys.known(key) ?? inOrder) < inOrder)) others.add(key);
    const sorted = await sortInSlices([...others], compareBytes, this.runtime);
    return mergeKeys(strings.slice(0, inOrder), sorted);
  }
}

/** Both lists in one, which have no key in common. */
function mergeKeys(a: readonly Bytes[], b: readonly Bytes[]): readonly Bytes[] {
  if (a.length === 0) return b;
  const merged: Bytes[] = [];
  let next = 0;
  for (const key of a) {
    while (next < b.length && compareBytes(b[next]!, key) < 0) merged.push(b[next++]!);
    merged.push(key);
  }
  while (next < b.length) merged.push(b[next++]!);
  return merged;
}

const byId = (a: RowKey, b: RowKey): number => compareBytes(a.id, b.id);

function noteRemoved(
  { number, keys }: ReturnType<typeof decodeNote>,
  vectors: ReadonlyMap<Bytes, Bytes> | undefined,
  { removed, rows }: Numbered,
): void {
  const doc = readDocNumber(number);
  for (const key of keys) {
    if (!isBlockKind(kindOf(key))) {
      if (vectors?.has(key) !== true) changesOf(rows, key).removals.push({ key, id: number, n: 0 });
      continue;
    }
    const docs = removed.get(key);
    if (docs === undefined) removed.set(key, [doc]);
    else docs.push(doc);
  }
}

function changesOf(rows: Map<Bytes, RowChanges>, key: Bytes): RowChanges {
  let changes = rows.get(key);
  if (changes === undefined) rows.set(key, (changes = { inserts: [], removals: [] }));
  return changes;
}
