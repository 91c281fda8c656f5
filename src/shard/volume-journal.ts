import type { Bytes } from '../base/bytes.js';
import type { Journal } from '../log/journal.js';
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
  /** Takes a blob off the list of released ones, unless it is needed again. */
  | { type: 'forget_released'; blob: string }
  /** Puts a blob on that list, unless it is needed. */
  | { type: 'mark_released'; blob: string }
  /** Says which place of which node the volume has. */
  | { type: 'stamp'; stamp: VolumeStamp };

export interface VolumeResults {
  erase: undefined;
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
  const blobs = keys.blobsRange;
  for (const key of found) {
    const value = view.get(key);
    if (value === undefined) continue;
    if (keys.isShardState(key)) view.addVolumeBytes(-recordBytes(decodeState(value)));
    view.remove(key);
    if (key >= blobs.start && key < blobs.end && smallBlob(value) === '')
      countFile(view, toHex(key.slice(blobs.start.length)), -1);
  }
}
