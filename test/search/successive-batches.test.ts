import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, toBytes, type Bytes } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { newIndexState } from '../../src/indexes/index-state.js';
import { OpenIndex } from '../../src/indexes/open-index.js';
import { SearchBatch } from '../../src/indexes/search-batch.js';
import { blocksReducer } from '../../src/indexes/search-blocks.js';
import { NodeCache } from '../../src/indexes/tree/node-cache.js';
import { Postings } from '../../src/search/posting-block.js';
import { isBlockKind, kindOf, readDocNumber } from '../../src/search/postings.js';
import { ShardMap } from '../../src/shard/shard-map.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { Random, seed } from '../model/random.js';

const runtime = new SystemRuntime();
const view = {
  name: 'i',
  signature: '00'.repeat(16),
  map: { kind: 'search', source: '', analyzer: { name: 'english' } },
  reduce: undefined,
  raw: true,
  partitioned: false,
} as const;

type Change = { id: Bytes; texts: Record<string, string> | undefined };

const wordsOf = (random: Random): string[] =>
  Array.from({ length: 1 + random.below(30) }, () =>
    random.below(8) === 0
      ? `once${random.below(1e9)}`
      : `${'The whale’s Whales of _ __ näive'.split(' ')[random.below(7)]!}`,
  ).concat(Array.from({ length: random.below(20) }, () => `word${random.below(60)}`));

function changesOf(random: Random): Change[] {
  return Array.from({ length: 80 }, () => ({
    id: asBytes(`doc${random.below(150)}`),
    texts:
      random.below(6) === 0
        ? undefined
        : { default: wordsOf(random).join(' '), title: wordsOf(random).slice(0, 4).join(', ') },
  }));
}

const callsOf = ({ texts }: Change): { key: Bytes; value: Bytes }[] =>
  Object.entries(texts ?? {}).map((call) => ({ key: toBytes(JSON.stringify(call)), value: asBytes('null') }));

/** Fills an index with a batch for each list of changes; `next` gives a batch after another. */
async function fill(
  lists: readonly Change[][],
  next: (before: SearchBatch) => SearchBatch,
): Promise<OpenIndex> {
  const store = new MemoryStore();
  const state = newIndexState(new ShardMap(1));
  const index = new OpenIndex(store, 1, view, state, [blocksReducer], runtime, new NodeCache(1_000_000));
  let batch = new SearchBatch(view, runtime);
  for (const list of lists) {
    for (const change of list) await batch.add(change.id, callsOf(change));
    const ids = [...new Set(list.map(({ id }) => id))].sort();
    const { writes, notes, tree } = await batch.apply(index, store, ids, false);
    await store.write([...writes, ...(await notes())]).committed;
    index.state = { ...index.state, tree };
    batch = next(batch);
  }
  return index;
}

/** All that is in an index: postings without the blocks that they stand in. */
function contentsOf(index: OpenIndex): unknown[] {
  const tree = index.reader(index.store);
  const rows: unknown[] = [];
  for (const { key, id, value } of tree.rows(undefined, undefined)) {
    if (key === '\0' || !isBlockKind(kindOf(key))) {
      rows.push([key, id, value]);
      continue;
    }
    const postings = new Postings(true);
    postings.add({ first: readDocNumber(id), value }, 0, Infinity);
    for (const [i, doc] of postings.docs.entries())
      rows.push([key, doc, postings.frequencies[i], postings.lengths[i], postings.positions(i)]);
  }
  return rows;
}

test(`batches that go on with the terms of those before fill an index as new ones do (seed ${seed})`, async () => {
  const random = new Random(seed);
  const lists = Array.from({ length: 8 }, () => changesOf(random));
  const kept = await fill(lists, (batch) => batch.next());
  const made = await fill(lists, () => new SearchBatch(view, runtime));
  const contents = contentsOf(made);
  assert.ok(contents.length > 1_000);
  assert.deepEqual(contentsOf(kept), contents);
});

test('a batch goes on with common terms only, and takes less than the one before', async () => {
  const first = new SearchBatch(view, runtime);
  const store = new MemoryStore();
  const state = newIndexState(new ShardMap(1));
  const index = new OpenIndex(store, 1, view, state, [blocksReducer], runtime, new NodeCache(1_000_000));
  for (let i = 0; i < 1_000; i++) {
    const texts = { default: `common${i % 10} only${i}` };
    await first.add(asBytes(`doc${i}`), callsOf({ id: asBytes(''), texts }));
  }
  const { bytes } = first;
  await first.apply(index, store, [], true);
  const next = first.next();
  assert.ok(next.bytes < bytes / 20, `${next.bytes} of ${bytes} bytes`);
});

test('words in many forms of one term are counted, and kept only up to a limit', async () => {
  const forms = 2_000;
  const length = 250;
  const formOf = (n: number): string =>
    Array.from({ length }, (_, bit) => (bit < 30 && (n >> bit) & 1 ? 'A' : 'a')).join('');
  const store = new MemoryStore();
  const state = newIndexState(new ShardMap(1));
  const index = new OpenIndex(store, 1, view, state, [blocksReducer], runtime, new NodeCache(1_000_000));
  let batch = new SearchBatch(view, runtime);
  let dropped = 0;
  for (let round = 0; round < 12; round++) {
    const before = batch.bytes;
    const ids = ['a', 'b'].map((id) => asBytes(`${id}${round}`));
    for (const [at, id] of ids.entries()) {
      const words = Array.from({ length: forms / 2 }, (_, n) => formOf(round * forms + 2 * n + at));
      await batch.add(id, callsOf({ id, texts: { default: words.join(' ') } }));
    }
    assert.ok(batch.bytes - before > forms * 2 * length, `${batch.bytes - before} bytes for ${forms} words`);
    const { writes, notes, tree } = await batch.apply(index, store, ids, false);
    await store.write([...writes, ...(await notes())]).committed;
    index.state = { ...index.state, tree };
    batch = batch.next();
    assert.ok(batch.bytes < 6 * 1024 * 1024, `${batch.bytes} bytes are kept`);
    if (batch.bytes < before) dropped++;
  }
  assert.ok(dropped > 0);
});
