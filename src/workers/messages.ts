import type { RequestFacts } from '../base/logger.js';
import type { UserContext } from '../base/user-context.js';
import { allDatabaseRoutes, documentRoutes } from '../http/routes/router.js';
import type { DatabaseRecord } from '../node/catalogue.js';
import type { QueryOutcome } from '../query/find-docs.js';
import type { Epoch } from './epochs.js';

/** The configuration as plain data. */
export type ConfigValues = Record<string, Record<string, string>>;

/** What a worker has to know before its first connection. */
export interface WorkerSettings {
  config: ConfigValues;
  logsRequests: boolean;
  /** What the processes share: see `WorkerFolder`. */
  folder: string;
  serverName: string;
  /** Where large attachments are. */
  blobs: string;
}

/** What the owner of the data folder sends to a worker. */
export type OwnerMessage =
  | { type: 'start'; settings: WorkerSettings }
  | { type: 'config'; config: ConfigValues; logsRequests: boolean }
  /** The folder of a store is to be let go of; `next` has the same records. */
  | { type: 'release'; folder: string; next?: string | undefined }
  /** The records of a group are to be removed. */
  | { type: 'ended'; group: number }
  | { type: 'report' }
  /** No more requests come: those under way are to be finished. */
  | { type: 'close' };

/** What a worker sends to the owner of the data folder. */
export type WorkerMessage =
  | { type: 'permit'; request: PermitRequest }
  | { type: 'report'; report: Report }
  | { type: 'closed'; connections: number };

/** Credentials that a request has brought, and the database that it was for. */
export interface PermitRequest {
  database: string;
  authorization: string | undefined;
  cookie: string | undefined;
  sender: string;
}

/** An answer to a request for a permit. It holds as long as the epoch does. */
export interface Granted {
  epoch: Epoch;
  /** Absent where requests of this kind have to be passed on. */
  permit?: Permit;
}

/** Leave to read a database by oneself. */
export interface Permit {
  user: UserContext;
  /** Beyond this moment it counts no longer, in milliseconds; null for no end. */
  until: number | null;
  record: DatabaseRecord;
  /** The folders of the volumes that hold the database, by slot. */
  folders: Record<number, string>;
  /** The folders of the stores that hold its indexes, by group, as far as there are any. */
  indexes: Record<number, string>;
}

/** What a worker has answered by itself since its last report. */
export interface Report {
  /** For each request: the numbers of its route and its method, its status, its milliseconds, whether the answer was sent to its end. */
  figures: number[];
  /** The same requests for the log, where they are logged. */
  lines: RequestFacts[];
  documentReads: number;
  /** What declarative queries have cost. */
  queries: QueryOutcome[];
  queryTimeouts: number;
}

/** By the numbers in reports. */
export const reportedMethods = ['GET', 'HEAD', 'POST'];
export const reportedRoutes: readonly { path: string }[] = [...documentRoutes, ...allDatabaseRoutes];
