/** What all replications of a server have done since its start, by the names of CouchDB's statistics. */
export class ReplicatorCounts {
  /** Runs that ended before both sides were open. */
  failed_starts = 0;
  readonly checkpoints = { success: 0, failure: 0 };
  /** Requests to other servers. */
  requests = 0;
  /** Their answers; a failure is one that is worth another try, or none at all. */
  readonly responses = { success: 0, failure: 0 };
  /** What was written into documents of replications. */
  readonly docs = { failed_state_updates: 0, completed_state_updates: 0 };
}
