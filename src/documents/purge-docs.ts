import type { Bytes } from '../base/bytes.js';
import { Unavailable } from '../base/errors.js';
import { StorageError } from '../base/storage-errors.js';
import type { Rev } from '../revisions/rev.js';
import type { PurgeRecord } from '../shard/purge-record.js';
import type { PurgeResult } from '../shard/commands.js';
import type { SaveGate } from '../node/save-gate.js';
import { changeValidators } from './change-validators.js';
import { changedTooOften } from './pass-gates.js';
import type { Database } from '../node/database.js';

/** Leaf revisions to be purged, by document. */
export interface PurgeRequest {
  id: Bytes;
  revs: Rev[];
}

/** How often purges of design documents with validation functions are sent, where others change them too. */
const roundsMax = 10;

/** Purges revisions; gives those that were removed, for each document in the order of the request. */
export async function purgeDocs(
  database: Database,
  requests: readonly PurgeRequest[],
  gates: readonly SaveGate[] = [],
): Promise<Rev[][]> {
  const uuid = database.runtime.uuid();
  const removed = await purge(database, requests, uuid);
  for (let round = 0; removed.includes('retry'); round++) {
    if (round === roundsMax) throw new Unavailable(changedTooOften);
    const open = removed.flatMap((each, at) => (each === 'retry' ? [at] : []));
    const some = open.map((at) => requests[at]!);
    const again = await changeValidators(gates, database, (token) => purge(database, some, uuid, token));
    for (const [i, at] of open.entries()) removed[at] = again[i]!;
  }
  return removed as Rev[][];
}

async function purge(
  database: Database,
  requests: readonly PurgeRequest[],
  uuid: string,
  validators?: Bytes,
): Promise<PurgeResult[]> {
  const byShard = new Map<number, { at: number; request: PurgeRequest }[]>();
  for (const [at, request] of requests.entries()) {
    const shard = database.shardOf(request.id);
    byShard.set(shard, [...(byShard.get(shard) ?? []), { at, request }]);
  }
  const removed: PurgeResult[] = requests.map(() => []);
  const failures: StorageError[] = [];
  await Promise.all(
    [...byShard].map(async ([shard, list]) => {
      const purges = list.map(({ request }) => request);
      const { instance } = database.record;
      try {
        const result = await database.submit({ type: 'purge', instance, shard, uuid, purges, validators });
        for (const [i, { at }] of list.entries()) removed[at] = result[i]!;
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        failures.push(error);
      }
    }),
  );
  // Where one shard could be written and another not, the answer names what is gone.
  if (failures.length > 0 && failures.length === byShard.size) throw failures[0]!;
  return removed;
}

/** The purges that are still remembered, the oldest of each shard first. */
export function purgedInfos(database: Database): PurgeRecord[] {
  const { collection } = database;
  return collection.states.flatMap((_, shard) => collection.purges(shard));
}
