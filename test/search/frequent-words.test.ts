/** What terms cost that stand in a document hundreds of thousands of times. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, type Bytes } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { evaluate } from '../../src/fulltext/evaluate.js';
import { IndexStatistics } from '../../src/fulltext/index-statistics.js';
import { Planner } from '../../src/fulltext/make-plan.js';
import type { Plan } from '../../src/fulltext/plan.js';
import { SearchReader } from '../../src/fulltext/search-reader.js';
import type { ViewReader } from '../../src/indexes/view-reader.js';
import { makeAnalyzer } from '../../src/search/analysis/analyzer.js';
import type { Block } from '../../src/search/posting-block.js';
import { docNumber, termKey } from '../../src/search/postings.js';
import { loggedBlocks } from './logged-blocks.js';

test('the documents of a term that a query has a thousand times are counted once', async () => {
  let counts = 0;
  const reader = {
    count: () => (counts++, 1),
    field: () => ({ docs: 1, length: 1 }),
  } as unknown as SearchReader;
  const planner = new Planner(
    () => reader,
    new IndexStatistics(() => [reader]),
    await makeAnalyzer({ name: 'standard' }),
    () => {},
    new SystemRuntime(),
  );
  const words = { kind: 'text', field: 'default', isQuoted: false, slop: 0 } as const;
  assert.equal((await planner.plan({ ...words, text: 'x '.repeat(1_000) })).kind, 'phrase');
  const clauses = Array.from({ length: 1_000 }, () => ({
    occur: 'should' as const,
    node: { ...words, text: 'x' },
  }));
  await planner.plan({ kind: 'bool', clauses });
  assert.equal(counts, 1);
});

test('others run before many long lists of positions have been read', () => {
  const key = termKey('default', 'x');
  const positions = Array.from({ length: 300_000 }, (_, i) => i);
  const [{ value }] = loggedBlocks([{ doc: 1, length: 1, boost: 1_000, positions }]) as [Block];
  let read = 0;
  const rows = function* ({ low, high }: { low: { id?: Bytes }; high: { id?: Bytes } }): Generator<object> {
    const ofBlock = (doc: number): object => ({
      key,
      id: docNumber(doc),
      get value() {
        read++;
        return value;
      },
    });
    // Asked for the block of a document.
    if (high.id !== undefined) yield ofBlock(0);
    else
      for (let doc = 0; doc < 1_000; doc++) if (docNumber(doc) >= (low.id ?? asBytes(''))) yield ofBlock(doc);
  };
  const reader = new SearchReader({ rows } as unknown as ViewReader, undefined);
  const score = (frequency: number): number => frequency;
  const term: Plan = { kind: 'term', key, score, boost: 1, docs: 1_000 };
  const phrase: Plan = { ...term, kind: 'phrase', slop: 0, terms: [0, 1].map((at) => ({ key, at })) };
  for (const plan of [term, phrase]) {
    const range = { from: 0, to: 1_000 };
    read = 0;
    assert.equal(evaluate(reader, [plan], range), undefined, plan.kind);
    assert.ok(read < 100, `${read} lists`);
    assert.ok(range.to < 1_000);
    while (evaluate(reader, [plan], range) === undefined);
    assert.ok(range.to >= 1);
  }
});
