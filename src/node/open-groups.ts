import { DatabaseIndexes } from '../indexes/database-indexes.js';
import type { Documents } from '../indexes/index-backend.js';
import type { Indexed, Views } from '../indexes/views.js';
import { Collection } from '../shard/collection.js';
import { MergedReader } from '../shard/merged-reader.js';
import { groupsOf, type DatabaseRecord } from './catalogue.js';
import { joinByShard, type Database, type Groups } from './database.js';
import type { Volumes } from './volumes.js';

/**
 * The groups of a database, for readers: one, or several that are read as one. Of those that are open already, what is given
 * is used: commits are told to one object of each group only.
 */
export function openGroups(
  volumes: Pick<Volumes, 'get'>,
  record: DatabaseRecord,
  open: readonly Collection[] = [],
): Groups {
  const { slot, instance, q, groups, placement } = record;
  if (groups === undefined) return new Collection(volumes.get(slot), instance, q);
  const parts = groups.map(({ group, slot: home, shards }) => {
    const known = open.find((each) => each.group === group);
    return { collection: known ?? new Collection(volumes.get(home), group, q), shards: shards! };
  });
  return new MergedReader(parts, placement === 'partition');
}

/** The indexes of these groups. */
export function openIndexes(
  views: Views,
  volumes: Pick<Volumes, 'get' | 'folderOf'>,
  record: DatabaseRecord,
  groups: Groups,
): DatabaseIndexes {
  const placed = groupsOf(record);
  const indexed = groups.collections.map(({ group, states }, at): Indexed => {
    const { slot } = placed[at]!;
    const documents = (): Documents => ({
      store: volumes.get(slot).store,
      folder: volumes.folderOf(slot),
    });
    return { instance: group, database: record.instance, q: record.q, states, documents };
  });
  return new DatabaseIndexes(views, indexed, (lists) => joinByShard(groups, lists));
}

/** Which of `q` shards go into which of so many groups; nothing where there is only one. */
export function firstGroups(q: number, count: number): { groups?: number[][] } {
  if (Math.min(q, count) <= 1) return {};
  const shards = [...Array(q).keys()];
  return { groups: shards.slice(0, count).map((at) => shards.filter((shard) => shard % count === at)) };
}

/** A database as it is when the division under way is complete. */
export function divided({ division, ...record }: DatabaseRecord): DatabaseRecord {
  if (division === undefined) return record;
  const groups = groupsOf(record).flatMap((each) =>
    each.group === division.group ? division.targets : [each],
  );
  return { ...record, groups, slot: groups[0]!.slot };
}

/** Whether the catalogue names other groups than those that are read. */
export const isSwapped = ({ record, groups }: Database): boolean =>
  groupsOf(record).some(({ group }) => groups.collections.every((each) => each.group !== group));
