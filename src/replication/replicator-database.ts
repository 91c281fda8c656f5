import { fromBytes, type Bytes } from '../base/bytes.js';
import type { UserContext } from '../base/user-context.js';
import { splitContent } from '../shard/content.js';
import type { LocalDoc } from './peer.js';

/** Databases whose documents ask for replications: every one of that name, also behind a slash. */
export const isReplicatorName = (name: string): boolean =>
  name === '_replicator' || name.endsWith('/_replicator');

/** The internal user that writes states into documents. Compared by identity: no login yields it. */
export const replicatorUser: UserContext = Object.freeze({
  name: null,
  roles: Object.freeze(['_admin', '_replicator']),
});

/** The members that only the replicator writes. */
export const stateMembers: readonly string[] = [
  '_replication_id',
  '_replication_state',
  '_replication_state_time',
  '_replication_state_reason',
  '_replication_stats',
];

/** What a document says, out of what is stored of it. */
export const readBody = (content: Bytes): LocalDoc =>
  JSON.parse(fromBytes(splitContent(content).body)) as LocalDoc;

/** Whether a document needs no more work until it is changed. */
export function isFinal(body: LocalDoc): boolean {
  const state = body['_replication_state'];
  return state === 'completed' || state === 'failed';
}
