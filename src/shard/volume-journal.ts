import type { Bytes } from '../base/bytes.js';
import type { Journal } from '../log/journal.js';
import type { Write } from '../storage/store.js';
import { smallBlob, toHex } from './blob-record.js';
import type { GroupLogs } from './group-log.js';
import { DatabaseKeys } from './keys.js';
import { decodeState } from './shard-state.js';
import { countFile, forgetReleased, markReleased } from './volume-blobs.js';
import { stampWrite, type VolumeStamp } from './volume-stamp.js';
import { recordBytes, type WriteView } from './write-view.js';

/** What changes a volume without changing a group that exists. */
export type VolumeEntry =
  /** Removes keys of a database that was deleted. */
  | { type: 'erase'; instance: number; keys: readonly Bytes[] }
  /** Writes keys of a group that is being filled from others, and is not in use yet. */
  | { type: 'fill'; instance: number; writes: readonly Write[] }
  /** Takes a blob off the list of released ones, unless it is needed again. */
  | { type: 'forget_released'; blob: string }
  /** Puts a blob on that list, unless it is needed. */
  | { type: 'mark_released'; blob: string }
  /** Says which place of which node the volume has. */
  | { type: 'stamp'; stamp: VolumeStamp };

export interface VolumeResults {
  erase: undefined;
  fill: undefined;
  /** Whether this volume can do without the blob. */
  forget_released: boolean;
  mark_released: undefined;
  stamp: undefined;
}

/** The part of the node's journal that concerns one volume, in the queue of that volume. */
export class VolumeJournal implements Journal<VolumeEntry, VolumeResults> {
  constructor(private readonly logs: Pick<GroupLogs, 'commits' | 'view' | 'encoded'>) {}

  record<D extends VolumeEntry>(given: D): Promise<VolumeResults[D['type']]> {
    const { commits, view, encoded } = this.logs;
    const entry = encoded ? structuredClone(given) : given;
    return commits.submit(() => applyEntry(entry, view) as VolumeResults[D['type']]);
  }
}

function applyEntry(entry: VolumeEntry, view: WriteView): boolean | undefined {
  switch (entry.type) {
    case 'erase':
      return erase(new DatabaseKeys(entry.instance), entry.keys, view);
    case 'fill':
      return fill(new DatabaseKeys(entry.instance), entry.writes, view);
    case 'forget_released':
      return forgetReleased(view, entry.blob);
    case 'mark_released':
      markReleased(view, entry.blob);
      return undefined;
    case 'stamp': {
      const { key, value } = stampWrite(entry.stamp);
      view.put(key, value);
      return undefined;
    }
  }
}

function erase(keys: DatabaseKeys, found: readonly Bytes[], view: WriteView): undefined {
  for (const key of found) set(keys, { key, value: undefined }, view);
}

function fill(keys: DatabaseKeys, writes: readonly Write[], view: WriteView): undefined {
  for (const write of writes) set(keys, write, view);
}

/** Writes a key of a group, and lets what the volume counts of its groups follow. */
function set(keys: DatabaseKeys, { key, value }: Write, view: WriteView): void {
  const { start, end } = keys.blobsRange;
  const isState = keys.isShardState(key);
  const isBlob = key >= start && key < end;
  const old = isState || isBlob ? view.get(key) : undefined;
  if (value === undefined) view.remove(key);
  else view.put(key, value);
  if (isState) view.addVolumeBytes(bytesIn(value) - bytesIn(old));
  if (!isBlob) return;
  const named = Number(smallBlob(value) === '') - Number(smallBlob(old) === '');
  if (named !== 0) countFile(view, toHex(key.slice(start.length)), named as 1 | -1);
}

const bytesIn = (state: Bytes | undefined): number =>
  state === undefined ? 0 : recordBytes(decodeState(state));
