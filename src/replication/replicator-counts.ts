/** What can be counted on another thread. */
export interface CountsTaken {
  checkpoints: { success: number; failure: number };
  requests: number;
  responses: { success: number; failure: number };
}

/** What all replications of a server have done since its start, by the names of CouchDB's statistics. */
export class ReplicatorCounts {
  /** Runs that ended before both sides were open. */
  failed_starts = 0;
  checkpoints = { success: 0, failure: 0 };
  /** Requests to other servers. */
  requests = 0;
  /** Their answers; a failure is one that is worth another try, or none at all. */
  responses = { success: 0, failure: 0 };
  /** What was written into documents of replications. */
  readonly docs = { failed_state_updates: 0, completed_state_updates: 0 };

  /** Gives what was counted here, and begins at zero again. */
  take(): CountsTaken {
    const { checkpoints, requests, responses } = this;
    this.checkpoints = { success: 0, failure: 0 };
    this.responses = { success: 0, failure: 0 };
    this.requests = 0;
    return { checkpoints, requests, responses };
  }

  add({ checkpoints, requests, responses }: CountsTaken): void {
    this.checkpoints.success += checkpoints.success;
    this.checkpoints.failure += checkpoints.failure;
    this.requests += requests;
    this.responses.success += responses.success;
    this.responses.failure += responses.failure;
  }
}
