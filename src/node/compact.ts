import { asBytes, type Bytes } from '../base/bytes.js';
import type { RevTree } from '../revisions/tree.js';
import { compactedBodiesMax } from '../shard/apply-compact.js';
import { decodeChange } from '../shard/change-record.js';
import { decodeDocRecord } from '../shard/doc-record.js';
import { allIds, type DocTable } from '../shard/group-reader.js';
import { groupsOf } from './catalogue.js';
import type { DatabaseRegistry } from './database-registry.js';
import type { Database } from './database.js';
import { sweepReleased } from './sweep-blobs.js';
import type { RunningTask } from './task-list.js';

/**
 * Documents that are sent to be changed in one commit: each may change a page of its own, and a commit needs room for all
 * pages that it changes before it gives the old ones free. No more bodies are forgotten by a command than there are here.
 */
const stepDocs = 500;
const stepBodies = 2_000;
const stepBytes = 1024 * 1024;
const stepMs = 8;
const shardsAtOnce = 16;

/** By the number of a shard: the changes up to here are of documents whose superseded revisions were forgotten. */
export type CompactedPositions = Map<number, number>;

/**
 * Forgets the bodies of superseded revisions, then gives disk space back if the volume has enough to spare. Runs
 * beside readers and writers, in small commands.
 */
export async function compact(registry: DatabaseRegistry, database: Database): Promise<void> {
  const total = database.total('doc_count') + database.total('doc_del_count');
  await compacting(registry, database, total, async (task) => {
    for (const table of ['live', 'deleted'] as const) await compactTable(database, table, task);
    await cleanUp(registry, database);
    for (const slot of new Set(groupsOf(database.record).map((group) => group.slot)))
      await registry.reclaim(slot);
  });
}

/**
 * The same for the documents that have changed since the last time, which is noted in `positions`: what that costs
 * depends on the changes, not on the size of the database.
 */
export async function compactChanged(
  registry: DatabaseRegistry,
  database: Database,
  positions: CompactedPositions,
): Promise<void> {
  const { shards, states } = database.collection;
  const ranges = shards.shards.map((shard) => {
    const { seq } = states[shard]!;
    return { shard, after: Math.min(positions.get(shard) ?? 0, seq), upTo: seq };
  });
  const docsMax = Math.ceil(stepDocs / Math.min(ranges.length, shardsAtOnce));
  const total = ranges.reduce((sum, { after, upTo }) => sum + upTo - after, 0);
  await compacting(registry, database, total, async (task) => {
    // Side by side, so that the commands of all shards share commits: under load, each waits for one.
    for (let at = 0; at < ranges.length; at += shardsAtOnce) {
      await Promise.all(
        ranges.slice(at, at + shardsAtOnce).map(async (range) => {
          await compactChanges(database, range, docsMax, task);
          positions.set(range.shard, range.upTo);
        }),
      );
    }
    await cleanUp(registry, database);
  });
}

async function cleanUp(registry: DatabaseRegistry, database: Database): Promise<void> {
  await trimPurges(database);
  await sweepReleased(registry);
}

async function compacting(
  registry: DatabaseRegistry,
  database: Database,
  total: number,
  work: (task: RunningTask) => Promise<void>,
): Promise<void> {
  if (database.compacting > 0) return;
  database.compacting++;
  const task = registry.tasks.begin('database_compaction', database.name, registry.nodeName, total);
  try {
    await work(task);
  } finally {
    database.compacting--;
    task.end();
  }
}

async function compactTable(database: Database, table: DocTable, task: RunningTask): Promise<void> {
  let { start } = allIds;
  for (let isLast = false; !isLast;) {
    const step = new Step(database, stepDocs);
    const query = { start, end: allIds.end, limit: stepDocs, bytesMax: stepBytes };
    const found = database.collection.docs(table, query);
    for (const { key, value } of found) {
      if (step.isFull) break;
      const doc = decodeDocRecord(value);
      start = step.add(doc.longId ?? key, doc.tree) ? asBytes(key + '\0') : key;
    }
    isLast = found.length === 0;
    await step.send();
    task.advance(step.docs);
  }
}

async function compactChanges(
  database: Database,
  { shard, after, upTo }: { shard: number; after: number; upTo: number },
  docsMax: number,
  task: RunningTask,
): Promise<void> {
  for (let at = after; at < upTo;) {
    const step = new Step(database, docsMax);
    const found = database.collection.changes(shard, { after: at, upTo, descending: false, limit: docsMax });
    let reached = found.length < docsMax ? upTo : found.at(-1)!.key;
    for (const { key: seq, value } of found) {
      if (step.isFull) {
        reached = Math.min(reached, seq - 1);
        break;
      }
      const { id, leaves } = decodeChange(value);
      // A first revision has superseded none.
      const isFirst = leaves.length === 1 && leaves[0]!.pos === 1;
      const tree = isFirst ? [] : (database.collection.treeOnce(id) ?? []);
      if (!step.add(id, tree)) reached = seq - 1;
    }
    await step.send();
    task.advance(reached - at);
    at = reached;
  }
}

/** Documents that are looked at in one turn, and the commands that come of it. */
class Step {
  docs = 0;
  readonly #byShard = new Map<number, Bytes[]>();
  readonly #slice: { readonly isOver: boolean };
  #bodies = 0;
  #isCut = false;

  constructor(
    private readonly database: Database,
    private readonly docsMax: number,
  ) {
    this.#slice = database.runtime.slice(stepMs);
  }

  get isFull(): boolean {
    if (this.#isCut || this.docs >= this.docsMax || this.#bodies >= stepBodies) return true;
    return this.docs > 0 && this.#slice.isOver;
  }

  /** False where the document has too many for one command: it is to be looked at again by the next step. */
  add(id: Bytes, tree: RevTree): boolean {
    const inner = innerBodies(tree);
    this.#bodies += inner;
    this.#isCut = inner > compactedBodiesMax;
    if (!this.#isCut) this.docs++;
    if (inner > 0) {
      const shard = this.database.shardOf(id);
      const ids = this.#byShard.get(shard);
      if (ids === undefined) this.#byShard.set(shard, [id]);
      else ids.push(id);
    }
    return !this.#isCut;
  }

  async send(): Promise<void> {
    await Promise.all([...this.#byShard].map(([shard, ids]) => submit(this.database, shard, ids)));
    await this.database.runtime.nextTurn();
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
      // Purges made meanwhile are left to the next compaction.
      if (left >= before) break;
    }
  }
}

export function excessPurges({ collection, purgedInfosLimit }: Database, shard: number): number {
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
