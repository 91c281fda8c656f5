import type { DatabaseRegistry } from '../node/database-registry.js';
import type { ViewReader } from '../indexes/view-reader.js';
import { SearchReader } from './search-reader.js';
import type { NamedSearch } from './search-source.js';

/** What `_search_info` tells of an index. */
export function searchInfo(registry: DatabaseRegistry, named: NamedSearch): Record<string, unknown> {
  const { database, design, index } = named;
  const indexed = registry.indexed(database);
  const reader = indexed.reader(index);
  const positions = reader?.positions ?? [];
  const docs = index.partitioned ? 0 : docsIn(indexed.readers(index));
  const places = database.collection.shards.positions(positions.map(({ seq }) => seq));
  const pending = places.reduce((sum, seq) => sum + seq, 0);
  return {
    pending_seq: pending,
    doc_del_count: 0,
    doc_count: docs,
    disk_size: reader?.bytes ?? 0,
    committed_seq: pending,
    signature: index.signature,
    updater_running: indexed.isUpdating(design),
  };
}

/** What `_nouveau_info` tells of an index. */
export function nouveauInfo(registry: DatabaseRegistry, named: NamedSearch): Record<string, unknown> {
  const { pending_seq, doc_count, disk_size, signature } = searchInfo(registry, named);
  const positions = registry.indexed(named.database).reader(named.index)?.positions ?? [];
  const purged = positions.reduce((sum, { purge_seq }) => sum + purge_seq, 0);
  return { num_docs: doc_count, update_seq: pending_seq, purge_seq: purged, disk_size, signature };
}

const docsIn = (readers: readonly (ViewReader | undefined)[]): number =>
  readers.reduce(
    (sum, reader) => sum + (reader === undefined ? 0 : new SearchReader(reader, undefined).docs),
    0,
  );

/** What `_search_disk_size` tells. */
export function searchDiskSize(
  registry: DatabaseRegistry,
  { database, index }: NamedSearch,
): Record<string, unknown> {
  const reader = registry.indexed(database).reader(index);
  return { disk_size: reader?.bytes ?? 0 };
}
