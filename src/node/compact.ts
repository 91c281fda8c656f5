import type { RevTree } from '../revisions/tree.js';
import { compactedBodiesMax } from '../shard/apply-compact.js';
import { decodeDocRecord } from '../shard/doc-record.js';
import { allIds, type DocTable } from '../shard/group-reader.js';
import type { Bytes } from '../base/bytes.js';
import type { DatabaseRegistry } from './database-registry.js';
import type { Database } from './database.js';
import { sweepReleased } from './sweep-blobs.js';

/** Documents looked at in one turn, and sent in one command; no more bodies are forgotten by it than there are here. */
const stepDocs = 500;
const stepBodies = 2_000;
const stepBytes = 1024 * 1024;
const stepMs = 8;

/**
 * Forgets the bodies of superseded revisions, then gives disk space back if the volume has enough to spare. Runs
 * beside readers and writers, in small commands.
 */
export async function compact(registry: DatabaseRegistry, database: Database): Promise<void> {
  if (database.compacting > 0) return;
  database.compacting++;
  const total = database.total('doc_count') + database.total('doc_del_count');
  const task = registry.tasks.begin('database_compaction', database.name, registry.nodeName, total);
  try {
    for (const table of ['live', 'deleted'] as const)
      await compactTable(database, table, (count) => task.advance(count));
    await trimPurges(database);
    await sweepReleased(registry);
    await registry.reclaim(database);
  } finally {
    database.compacting--;
    task.end();
  }
}

async function compactTable(
  database: Database,
  table: DocTable,
  advance: (count: number) => void,
): Promise<void> {
  let { start } = allIds;
  for (;;) {
    const byShard = new Map<number, Bytes[]>();
    const slice = database.runtime.slice(stepMs);
    let seen = 0;
    let bodies = 0;
    const found = database.collection.docs(table, {
      start,
      end: allIds.end,
      limit: stepDocs,
      bytesMax: stepBytes,
    });
    for (const { key, value } of found) {
      if (bodies >= stepBodies || (seen > 0 && slice.isOver)) break;
      const doc = decodeDocRecord(value);
      const inner = innerBodies(doc.tree);
      bodies += inner;
      // One with too many for one command is looked at again.
      if (inner > compactedBodiesMax) start = key;
      else {
        start = key + '\0';
        seen++;
      }
      if (inner > 0) {
        const id = doc.longId ?? key;
        const shard = database.shardOf(id);
        const ids = byShard.get(shard);
        if (ids === undefined) byShard.set(shard, [id]);
        else ids.push(id);
      }
      if (inner > compactedBodiesMax) break;
    }
    await Promise.all([...byShard].map(([shard, ids]) => submit(database, shard, ids)));
    advance(seen);
    if (found.length === 0) return;
    await database.runtime.nextTurn();
  }
}

function innerBodies(tree: RevTree): number {
  let count = 0;
  for (const { leaf, body } of tree) if (!leaf && body !== 0) count++;
  return count;
}

/** Purges beyond the limit go too, also in shards that had no body to forget. */
async function trimPurges(database: Database): Promise<void> {
  for (const shard of database.collection.states.keys()) {
    for (let left = excessPurges(database, shard); left > 0;) {
      await submit(database, shard, []);
      const before = left;
      left = excessPurges(database, shard);
      // Those who purge meanwhile are left to the next compaction.
      if (left >= before) break;
    }
  }
}

function excessPurges({ collection, purgedInfosLimit }: Database, shard: number): number {
  const { purge_seq, purges_from } = collection.states[shard]!;
  return purge_seq - purges_from + 1 - purgedInfosLimit;
}

function submit(database: Database, shard: number, ids: Bytes[]): Promise<undefined> {
  const { instance } = database.record;
  return database.submit({
    type: 'compact',
    instance,
    shard,
    ids,
    purged_infos_limit: database.purgedInfosLimit,
  });
}
