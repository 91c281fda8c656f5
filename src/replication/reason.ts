import { RequestError } from '../base/errors.js';
import { PeerFailure } from './peer.js';

/** What is told of a failure, in jobs, documents and logs. Addresses in it have no credentials. */
export function reasonOf(error: unknown): string {
  if (error instanceof RequestError) return `${error.error}: ${error.reason}`;
  if (error instanceof PeerFailure) return error.message;
  return error instanceof Error ? error.message : String(error);
}

/** The failure as a `RequestError`, for waiters of a replication. */
export function refusalOf(error: unknown): RequestError {
  return error instanceof RequestError ? error : new RequestError('replication_failed', reasonOf(error));
}
