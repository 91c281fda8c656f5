import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { designNames, designOf, nouveauOf, searchesOf } from '../design/design-docs.js';

const collatorVersion = process.versions.icu ?? '';

/** What `_info` tells of the indexes of a design document. */
export async function viewInfo(
  registry: DatabaseRegistry,
  database: Database,
  ddoc: string,
): Promise<Record<string, unknown>> {
  const design = designOf(database, ddoc);
  const indexed = registry.indexed(database);
  const readers = [...design.views.values()].flatMap((view) => indexed.reader(view) ?? []);
  const bytes = readers.reduce((sum, reader) => sum + reader.bytes, 0);
  // The indexes are filled together; the one that is furthest behind speaks for all.
  const { states, shards } = database.collection;
  const placesOf = readers.map((reader) => shards.inherit(reader.positions));
  const positions = states.map((_, shard) => {
    const places = placesOf.map((each) => each[shard]!);
    return places.length < design.views.size || places.length === 0
      ? { epoch: 0, seq: 0, purge_seq: 0 }
      : places.reduce((least, place) => (place.seq < least.seq ? place : least));
  });
  const pending = states.reduce((sum, { seq }, shard) => sum + Math.max(0, seq - positions[shard]!.seq), 0);
  const info = {
    name: ddoc,
    view_index: {
      updates_pending: { minimum: pending, preferred: pending, total: pending },
      waiting_commit: false,
      waiting_clients: indexed.waiting(design),
      updater_running: indexed.isUpdating(design),
      update_seq: positions.reduce((sum, { seq }) => sum + seq, 0),
      sizes: { file: 0, external: bytes, active: bytes },
      data_size: bytes,
      disk_size: 0,
      signature: design.signature,
      purge_seq: positions.reduce((sum, { purge_seq }) => sum + purge_seq, 0),
      language: design.language,
      compact_running: registry.views.isReclaiming,
      collator_versions: [collatorVersion],
    },
  };
  // The database may be gone afterwards, so all else was read before.
  const fileBytes = await registry.views.fileShare.of(bytes);
  info.view_index.sizes.file = info.view_index.disk_size = fileBytes;
  return info;
}

/** Removes indexes that no design document needs, and gives their space back. */
export async function cleanUpViews(registry: DatabaseRegistry, database: Database): Promise<void> {
  const designs = designNames(database).flatMap((name) => [
    designOf(database, name),
    searchesOf(database, name),
    nouveauOf(database, name),
  ]);
  await registry.indexed(database).keepOnly(designs);
}
