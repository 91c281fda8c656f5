import { type Bytes } from '../base/bytes.js';
import type { SplitCommand, SplitProgress } from './commands.js';
import { decodeChange } from './change-record.js';
import { decodeDocRecord } from './doc-record.js';
import type { DatabaseKeys } from './keys.js';
import { decodePurge } from './purge-record.js';
import { ShardMap } from './shard-map.js';
import type { ShardState } from './shard-state.js';
import { targetsOf, type Copied, type CopiedTable, type Split } from './split.js';
import { SplitMirror } from './split-mirror.js';
import type { WriteView } from './write-view.js';

/** The shards whose counters a step changes. */
export function shardsOfSplit(
  { step, shard, q, of }: SplitCommand,
  keys: DatabaseKeys,
  view: WriteView,
): number[] {
  const split = view.split(keys);
  if (step === 'begin') {
    const target = split?.target ?? Math.max(of, (view.shards(keys) ?? new ShardMap(q)).size);
    return isGone(keys, view, shard) ? [] : [shard, target, target + 1];
  }
  return split?.source === shard && split.phase === 'copying' ? [shard, ...targetsOf(split)] : [];
}

/**
 * One step of a split. Each may be taken again: what is done already is passed over, so that a job that was broken off
 * anywhere goes on by doing its last step again.
 */
export function applySplit(command: SplitCommand, keys: DatabaseKeys, view: WriteView): SplitProgress {
  if (command.step === 'begin') begin(command, keys, view);
  const split = view.split(keys);
  if (split?.source === command.shard) {
    if (command.step === 'copy') copy(command, split, keys, view);
    if (command.step === 'swap') swap(command, split, keys, view);
    if (command.step === 'abort') abort(split, keys, view);
    if (command.step === 'remove') remove(command, split, keys, view);
    if (command.step === 'end') end(split, keys, view);
  }
  const left = view.split(keys);
  return {
    isSplit: isGone(keys, view, command.shard),
    split: left?.source === command.shard ? left : undefined,
  };
}

const isGone = (keys: DatabaseKeys, view: WriteView, shard: number): boolean =>
  view.shards(keys)?.isGone(shard) ?? false;

function begin({ shard, q, of, partitioned }: SplitCommand, keys: DatabaseKeys, view: WriteView): void {
  const underWay = view.split(keys);
  if (underWay?.source === shard && underWay.phase !== 'aborting') return;
  if (isGone(keys, view, shard)) return;
  if (underWay !== undefined) throw new Error('another shard of the database is being split');
  const shards = view.shards(keys) ?? new ShardMap(q);
  const { first, last } = shards.range(shard);
  if (first === last) throw new Error('a shard that has a single hash cannot be split');
  const { seq, purge_seq } = view.state(keys, shard);
  view.setSplit(keys, {
    phase: 'copying',
    source: shard,
    target: Math.max(of, shards.size),
    middle: first + Math.floor((last - first + 1) / 2) - 1,
    ...(partitioned ? { partitioned } : {}),
    changes: { until: seq, at: 0 },
    purges: { until: purge_seq, at: 0 },
  });
}

/** Copies what stands under these numbers, as far as it is still there, which then is all there is up to a number. */
function copy(command: SplitCommand, split: Split, keys: DatabaseKeys, view: WriteView): void {
  const { table, after, upTo, numbers } = command;
  const copied = split[table];
  if (split.phase !== 'copying' || copied.at !== after || upTo > copied.until) return;
  const mirror = SplitMirror.of(keys, view, split.source)!;
  for (const number of numbers) {
    if (number <= after || number > upTo) continue;
    if (table === 'changes') copyChange(mirror, split.source, number, keys, view);
    else copyPurge(mirror, split.source, number, keys, view);
  }
  view.setSplit(keys, { ...split, [table]: { ...copied, at: upTo } satisfies Copied });
}

function copyChange(
  mirror: SplitMirror,
  source: number,
  seq: number,
  keys: DatabaseKeys,
  view: WriteView,
): void {
  const change = view.get(keys.change(source, seq));
  if (change === undefined) return;
  const { id, deleted } = decodeChange(change);
  const record = view.get(deleted ? keys.deleted(id) : keys.live(id));
  if (record === undefined) throw new Error('a change has no document');
  const { countsAsLive } = decodeDocRecord(record);
  mirror.changed(id, undefined, { seq, deleted, countsAsLive, change });
}

function copyPurge(
  mirror: SplitMirror,
  source: number,
  purgeSeq: number,
  keys: DatabaseKeys,
  view: WriteView,
): void {
  const record = view.get(keys.purge(source, purgeSeq));
  if (record !== undefined) mirror.purged(decodePurge(record).id, purgeSeq, record);
}

/** From here on the targets count. They go on with the sequences of the source. */
function swap({ shard, q }: SplitCommand, split: Split, keys: DatabaseKeys, view: WriteView): void {
  if (split.phase !== 'copying') return;
  if (split.changes.at < split.changes.until || split.purges.at < split.purges.until)
    throw new Error('a shard is not copied yet');
  const source = view.state(keys, shard);
  const [first, second] = targetsOf(split).map((target) => view.state(keys, target)) as [
    ShardState,
    ShardState,
  ];
  for (const counter of ['doc_count', 'doc_del_count', 'tombstones'] as const) {
    if (first[counter] + second[counter] !== source[counter])
      throw new Error(`the copies of a shard don't have its ${counter}`);
  }
  const { position, seq, purge_seq, purges_from, epoch } = source;
  const { stored_bytes, attachment_bytes, obsolete_bytes, external_bytes } = source;
  Object.assign(first, { stored_bytes, attachment_bytes, obsolete_bytes, external_bytes });
  for (const target of [first, second])
    Object.assign(target, { position, seq, purge_seq, purges_from, epoch });
  view.dropState(keys, shard);
  view.setShards(
    keys,
    (view.shards(keys) ?? new ShardMap(q)).with({
      source: shard,
      middle: split.middle,
      seq,
      target: split.target,
    }),
  );
  view.setSplit(keys, { ...split, phase: 'cleaning' });
}

function abort(split: Split, keys: DatabaseKeys, view: WriteView): void {
  if (split.phase !== 'copying') return;
  for (const target of targetsOf(split)) view.dropState(keys, target);
  view.setSplit(keys, { ...split, phase: 'aborting' });
}

/** The shards that keys are left of. */
export function leftovers(split: Split): number[] {
  if (split.phase === 'copying') return [];
  return split.phase === 'cleaning' ? [split.source] : targetsOf(split);
}

/** Removes what is left under these numbers of a shard that is gone, or never came to be. */
function remove(command: SplitCommand, split: Split, keys: DatabaseKeys, view: WriteView): void {
  const { of, table, numbers } = command;
  if (!leftovers(split).includes(of)) return;
  for (const number of numbers) {
    const key = keyOf(keys, table, of, number);
    if (view.get(key) === undefined) continue;
    view.remove(key);
    if (table === 'changes') view.moved(keys, of, 0, number);
  }
}

const keyOf = (keys: DatabaseKeys, table: CopiedTable, shard: number, number: number): Bytes =>
  table === 'changes' ? keys.change(shard, number) : keys.purge(shard, number);

/** Nothing is left over. */
function end(split: Split, keys: DatabaseKeys, view: WriteView): void {
  if (split.phase !== 'copying') view.setSplit(keys, undefined);
}
