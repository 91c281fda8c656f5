import type { Bytes } from '../base/bytes.js';
import type { Rev } from '../revisions/rev.js';
import type { Database } from '../node/database.js';
import type { Positions } from '../node/sequence.js';

/** One record of the table of changes. */
export interface ChangeEntry {
  shard: number;
  seq: number;
  value: Bytes;
  /** The revisions that a filter has let pass; undefined for those of the record. */
  revs: readonly Rev[] | undefined;
}

/** What lies between two places: behind `after`, up to and with `upTo`. */
export interface Span {
  after: Positions;
  upTo: Positions;
  descending: boolean;
}

export interface Merged {
  entries: ChangeEntry[];
  /** Where each shard stands when all of these have been passed. */
  ends: End[];
}

export interface End {
  shard: number;
  seq: number;
}

/** Sequences between two places. There are no more changes than that, and fewer where documents have changed again. */
export function gapOf({ after, upTo }: Pick<Span, 'after' | 'upTo'>): number {
  let gap = 0;
  for (let shard = 0; shard < after.length; shard++) gap += Math.max(0, upTo[shard]! - after[shard]!);
  return gap;
}

/** Changes of one shard that follow each other stay together, unless there are few in all. */
const runLength = 16;
const manyChanges = 256;
/** Beginning to read a shard costs as much as a dozen changes; so it is made worth while, where much is to come. */
const shardLeast = 200;

/**
 * The next changes of all shards in one order, about `most` of them.
 *
 * Within a shard the order is that of the sequences. Between shards there is none, and any would do: a place holds a
 * sequence for each. Since documents fall evenly on the shards, the share of its part of the span that a change lies
 * behind is about the time at which it was made. So the span is divided evenly, and of each part in turn every shard
 * gives what it has: changes come about as they were written. Where there are many, parts are made so large that a few
 * changes of a shard follow each other, whose sequences then differ in one place; and where there are many times more
 * than are wanted, only those shards are read that are farthest behind.
 */
export function mergeChanges(database: Database, span: Span, most: number): Merged {
  const shards: ChangeEntry[][] = [];
  const ends: End[] = [];
  const gaps = gapsOf(span, most);
  const total = gaps.reduce((sum, { gap }) => sum + gap, 0);
  let count = 0;
  for (const { shard, gap } of gaps) {
    const { entries, end } = readShard(database, span, shard, Math.ceil((most * gap) / total));
    count += entries.length;
    shards.push(entries);
    ends.push({ shard, seq: end });
  }
  return { entries: shards.length === 1 ? shards[0]! : interleave(shards, ends, span, count), ends };
}

/** The shards to read, and how much of the span each has. */
function gapsOf(span: Span, most: number): { shard: number; gap: number }[] {
  const gaps: { shard: number; gap: number }[] = [];
  for (let shard = 0; shard < span.after.length; shard++) {
    const gap = span.upTo[shard]! - span.after[shard]!;
    if (gap > 0) gaps.push({ shard, gap });
  }
  const worthWhile = Math.round(most / shardLeast);
  if (worthWhile === 0 || worthWhile >= gaps.length || gapOf(span) < 4 * most) return gaps;
  return gaps.sort((a, b) => b.gap - a.gap).slice(0, worthWhile);
}

function interleave(
  shards: readonly ChangeEntry[][],
  ends: readonly End[],
  { after, upTo, descending }: Span,
  count: number,
): ChangeEntry[] {
  const merged: ChangeEntry[] = [];
  const parts = Math.ceil(count / shards.length / (count > manyChanges ? runLength : 1));
  const taken = shards.map(() => 0);
  for (let part = 1; part <= parts; part++) {
    for (const [i, entries] of shards.entries()) {
      const { shard, seq: end } = ends[i]!;
      const from = descending ? upTo[shard]! : after[shard]!;
      const bound = part === parts ? end : from + ((end - from) * part) / parts;
      let at = taken[i]!;
      for (; at < entries.length; at++) {
        const { seq } = entries[at]!;
        if (descending ? seq <= bound : seq > bound) break;
        merged.push(entries[at]!);
      }
      taken[i] = at;
    }
  }
  return merged;
}

/** Gives too where the shard stands behind what was read: at the end of the span when nothing more is there. */
function readShard(
  database: Database,
  { after, upTo, descending }: Span,
  shard: number,
  limit: number,
): { entries: ChangeEntry[]; end: number } {
  const first = after[shard]!;
  const last = upTo[shard]!;
  const found = database.collection.changes(shard, { after: first, upTo: last, descending, limit });
  const entries = found.map(({ key: seq, value }): ChangeEntry => ({ shard, seq, value, revs: undefined }));
  const end = entries.length < limit ? undefined : entries[limit - 1]!.seq;
  if (descending) return { entries, end: end === undefined ? first : end - 1 };
  return { entries, end: end ?? last };
}
