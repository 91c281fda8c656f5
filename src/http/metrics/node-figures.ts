import fs from 'node:fs';
import type { ClusterLink } from '../../node/cluster-link.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { StoreSize } from '../../storage/store.js';
import type { MemoryBudgets } from '../connection/memory-budgets.js';
import { labelled, single, type Figure } from './figures.js';

/** The kinds of work that are always shown, so that a board has them also when there is none. */
const taskTypes = [
  'indexer',
  'search_indexer',
  'database_compaction',
  'view_compaction',
  'volume_compaction',
  'replication',
  'shard_splitting',
];

/** Figures of storage, indexes and work in the background. */
export function nodeFigures(node: () => DatabaseRegistry, dataFolder: string | undefined): Figure[] {
  const volumes = (size: (size: StoreSize) => number) => () =>
    node()
      .volumes()
      .map(({ slot, store }) => [String(slot), size(store.size())] as const);
  const indexes = (size: (size: StoreSize) => number) => () => {
    const found = node().views.backends.size();
    return found === undefined ? 0 : size(found);
  };
  return [
    labelled(
      'gauge',
      'tuffet_volume_file_bytes',
      'bytes that a volume takes on disk',
      'volume',
      volumes(({ file_bytes }) => file_bytes),
    ),
    labelled(
      'gauge',
      'tuffet_volume_used_bytes',
      'bytes of a volume that are in use',
      'volume',
      volumes(({ used_bytes }) => used_bytes),
    ),
    single(
      'gauge',
      'tuffet_index_file_bytes',
      'bytes that indexes take on disk',
      indexes(({ file_bytes }) => file_bytes),
    ),
    single(
      'gauge',
      'tuffet_index_used_bytes',
      'bytes of indexes that are in use',
      indexes(({ used_bytes }) => used_bytes),
    ),
    labelled(
      'gauge',
      'tuffet_reclaimable_bytes',
      'bytes that could be given back: of superseded revisions in open databases, and free in files',
      'kind',
      () => reclaimable(node()),
    ),
    {
      name: 'tuffet_disk_free_bytes',
      type: 'gauge',
      help: 'bytes that are free on the disk of the data folder',
      samples: () => freeBytes(dataFolder).map((value) => ({ value })),
    },
    labelled('gauge', 'tuffet_active_tasks', 'work in the background, by its type', 'type', () => {
      const counts = new Map(taskTypes.map((type) => [type, 0]));
      for (const { type } of node().tasks.list() as { type: string }[])
        counts.set(type, (counts.get(type) ?? 0) + 1);
      return counts;
    }),
  ];
}

function reclaimable(node: DatabaseRegistry): Map<string, number> {
  const free = (size: StoreSize | undefined): number =>
    size === undefined ? 0 : size.file_bytes - size.used_bytes;
  const obsolete = [...node.openDatabases.all()].map((database) => database.total('obsolete_bytes'));
  return new Map([
    ['superseded', obsolete.reduce((sum, bytes) => sum + bytes, 0)],
    ['documents', node.volumes().reduce((sum, { store }) => sum + free(store.size()), 0)],
    ['indexes', free(node.views.backends.size())],
  ]);
}

/** Nothing for a server that keeps everything in memory, or where the system does not tell. */
function freeBytes(folder: string | undefined): number[] {
  if (folder === undefined) return [];
  try {
    const { bavail, bsize } = fs.statfsSync(folder);
    return [bavail * bsize];
  } catch {
    return [];
  }
}

/** The nodes of a cluster, under CouchDB's names: its dashboards warn when nodes are missing; and how far this one is. */
export function clusterFigures(cluster: () => ClusterLink | undefined): Figure[] {
  const nodes = (): [string, number][] => {
    const { known, all } = cluster()?.members() ?? { known: [''], all: [''] };
    return [
      ['cluster_nodes', known.length],
      ['all_nodes', all.length],
    ];
  };
  const each = (measure: 'position' | 'lag') => (): [string, number][] =>
    cluster()?.report.measures.map((found) => [found.stream, found[measure]]) ?? [];
  return [
    labelled('gauge', 'couchdb_membership', 'count of nodes in the cluster', 'nodes', nodes),
    labelled(
      'gauge',
      'tuffet_cluster_stream_position',
      'last message of a stream that this node has applied',
      'stream',
      each('position'),
    ),
    labelled(
      'gauge',
      'tuffet_cluster_stream_lag',
      'messages of a stream that this node has not applied',
      'stream',
      each('lag'),
    ),
  ];
}

/** Figures of memory and of the process. */
export function memoryFigures(budgets: MemoryBudgets): Figure[] {
  const each = Object.entries({ bodies: budgets.bodies, answers: budgets.answers });
  let before = performance.eventLoopUtilization();
  return [
    labelled(
      'counter',
      'tuffet_memory_waits_total',
      'how often a body or an answer found no room at once',
      'budget',
      () => each.map(([budget, { waits }]) => [budget, waits] as const),
    ),
    labelled(
      'gauge',
      'tuffet_memory_held_bytes',
      'bytes of large request bodies and answers held in memory',
      'budget',
      () => each.map(([budget, { used }]) => [budget, used] as const),
    ),
    single('gauge', 'tuffet_heap_used_bytes', 'bytes of the JavaScript heap that are in use', () => {
      return process.memoryUsage().heapUsed;
    }),
    single('gauge', 'process_resident_memory_bytes', 'resident memory', () => process.memoryUsage.rss()),
    single('counter', 'process_cpu_seconds_total', 'processor time, of all threads', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    }),
    single(
      'gauge',
      'tuffet_event_loop_utilization',
      'share of the time since the last look in which the serving thread was busy',
      () => {
        const now = performance.eventLoopUtilization();
        const { utilization } = performance.eventLoopUtilization(now, before);
        before = now;
        return utilization;
      },
    ),
    single('counter', 'couchdb_uptime_seconds', 'time since the start', () => process.uptime()),
  ];
}
