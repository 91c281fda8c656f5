import type { Store } from '../storage/store.js';
import {
  encodeJson,
  listWrites,
  metaKey,
  nameKey,
  readMeta,
  type DatabaseSettings,
  type StoredDatabase,
} from './catalogue-commands.js';
import { erasureKey, slotKey, type Erasure } from './catalogue-journal.js';

/**
 * How a database that was copied into a volume from elsewhere comes into a catalogue that no server uses: its groups get
 * numbers first, then its records are copied, and its name comes last. Until then the numbers are noted for erasure, so
 * that what was cut short is removed by the next server.
 */
export async function reserveGroups(catalogue: Store, count: number, slot: number): Promise<number[]> {
  const meta = readMeta(catalogue);
  const groups = Array.from({ length: count }, (_, at) => meta.next_instance + at);
  await catalogue.write([
    { key: metaKey, value: encodeJson({ ...meta, next_instance: meta.next_instance + count }) },
    ...groups.map((instance) => ({
      key: erasureKey(instance),
      value: encodeJson({ instance, slot } satisfies Erasure),
    })),
  ]).flushed;
  return groups;
}

export interface AdoptedGroup {
  group: number;
  /** Undefined for all. */
  shards: readonly number[] | undefined;
}

/** Gives the groups, of which the first has the number of the database, their name. */
export async function adoptDatabase(
  catalogue: Store,
  name: string,
  settings: DatabaseSettings,
  groups: readonly AdoptedGroup[],
  slot: number,
): Promise<void> {
  const record: StoredDatabase = { instance: groups[0]!.group, ...settings };
  if (groups[0]!.shards !== undefined)
    record.groups = groups.map(({ group, shards }) => ({ group, shards: shards! }));
  await catalogue.write([
    { key: nameKey(name), value: encodeJson(record) },
    ...listWrites(name, settings),
    ...groups.flatMap(({ group }) => [
      { key: slotKey(group), value: encodeJson({ slot }) },
      { key: erasureKey(group), value: undefined },
    ]),
  ]).flushed;
}
