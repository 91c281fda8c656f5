import type { DatabaseRegistry } from '../node/database-registry.js';
import { SearchReader } from './search-reader.js';
import type { NamedSearch } from './search-source.js';

/** What `_search_info` tells of an index. */
export function searchInfo(registry: DatabaseRegistry, named: NamedSearch): Record<string, unknown> {
  const { database, design, index } = named;
  const indexed = registry.indexed(database);
  const reader = registry.views.reader(indexed, index);
  const positions = reader?.state.positions ?? [];
  const docs = reader === undefined || index.partitioned ? 0 : new SearchReader(reader, undefined).docs;
  const places = database.collection.shards.positions(positions.map(({ seq }) => seq));
  const pending = places.reduce((sum, seq) => sum + seq, 0);
  return {
    pending_seq: pending,
    doc_del_count: 0,
    doc_count: docs,
    disk_size: reader?.state.tree.bytes ?? 0,
    committed_seq: pending,
    signature: index.signature,
    updater_running: registry.views.isUpdating(indexed, design),
  };
}

/** What `_search_disk_size` tells. */
export function searchDiskSize(
  registry: DatabaseRegistry,
  { database, index }: NamedSearch,
): Record<string, unknown> {
  const reader = registry.views.reader(registry.indexed(database), index);
  return { disk_size: reader?.state.tree.bytes ?? 0 };
}
