import { toBytes, type Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { changeWinner } from '../documents/change-winner.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import { membersOf, objectOf } from '../json/members.js';
import { formatRev } from '../revisions/rev.js';
import { isoSeconds, type Job } from './job.js';
import type { LocalDoc } from './peer.js';
import { replicatorUser, stateMembers } from './replicator-database.js';

/** What is written into a document about its replication. */
export type DocState = { _replication_state: string; _replication_state_time: string } & LocalDoc;

export const completedState = (job: Job, now: Date): DocState => ({
  ...stateAt(now, 'completed'),
  _replication_stats: {
    ...job.stats.members(),
    changes_pending: job.standing?.pending ?? null,
    checkpointed_source_seq: job.standing?.checkpointedSeq ?? 0,
    start_time: isoSeconds(job.addedAt),
  },
});

export const failedState = (reason: string, now: Date): DocState => ({
  ...stateAt(now, 'failed'),
  _replication_state_reason: reason,
});

export const errorState = (reason: string, now: Date): DocState => ({
  ...stateAt(now, 'error'),
  _replication_state_reason: reason,
});

export const triggeredState = (job: Job, now: Date): DocState => ({
  ...stateAt(now, 'triggered'),
  _replication_id: job.id,
});

function stateAt(now: Date, state: string): DocState {
  return { _replication_state: state, _replication_state_time: isoSeconds(now) };
}

/**
 * Writes a state into a document, in the place of an older one. Gives the document's new revision; undefined where
 * the document has changed since; that change wins.
 */
export async function writeState(
  registry: DatabaseRegistry,
  databaseName: string,
  id: Bytes,
  rev: string,
  state: DocState,
): Promise<string | undefined> {
  const database = registry.find(databaseName);
  const found = database?.collection.winner(id);
  if (database === undefined || found === undefined || found.deleted || formatRev(found) !== rev)
    return undefined;
  const change = (body: Bytes): Bytes => withState(body, state);
  // Outside the try: that the document can't be read is thrown at once, only a save may be refused.
  const saving = changeWinner(registry, database, id, found, change, replicatorUser);
  try {
    return formatRev(await saving);
  } catch (error) {
    if (error instanceof RequestError) return undefined;
    throw error;
  }
}

function withState(body: Bytes, state: DocState): Bytes {
  const others = membersOf(body).filter(({ name }) => !stateMembers.includes(name));
  const added = Object.entries(state).map(([name, value]) => toBytes(`"${name}":${JSON.stringify(value)}`));
  return objectOf([...others.map(({ text }) => text), ...added]);
}
