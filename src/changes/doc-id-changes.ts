import type { Bytes } from '../base/bytes.js';
import type { Database } from '../node/database.js';
import { gapOf, type ChangeEntry, type Span } from './merge-changes.js';

/** Whether looking up the documents takes less than walking over the changes. */
export function lookUpPays(ids: ReadonlySet<Bytes>, idsMax: number, span: Span): boolean {
  return ids.size <= idsMax && ids.size < gapOf(span);
}

/** The changes of the documents, in the order in which a walk would meet them. */
export async function findChanges(
  database: Database,
  ids: ReadonlySet<Bytes>,
  { after, upTo, descending }: Span,
): Promise<ChangeEntry[]> {
  const { collection } = database;
  // Those that the span is about.
  const { shards } = collection;
  const found: (ChangeEntry & { order: number })[] = [];
  const slice = database.runtime.slice();
  for (const id of ids) {
    const winner = collection.winner(id);
    if (winner !== undefined) {
      const { seq } = winner;
      const shard = database.shardOf(id, shards);
      const first = after[shard]!;
      const last = upTo[shard]!;
      const order = (descending ? last - seq : seq - first) / (last - first);
      const value = seq > first && seq <= last ? collection.change(shard, seq) : undefined;
      if (value !== undefined) found.push({ shard, seq, value, revs: undefined, order });
    }
    if (slice.isOver) await slice.next();
  }
  return found.sort((a, b) => a.order - b.order);
}
