import type { MapCounts } from '../script/call-counts.js';
import type { ReduceLimit } from '../script/script-host.js';
import type { IndexJob } from './index-job.js';

/** How the index thread is set up. */
export interface ThreadSettings {
  folder: string;
  /** The number of the store. */
  slot: number;
  threads: number;
  memory_bytes: number;
  timeout_ms: number;
  reduce_limit: ReduceLimit;
}

/** What the serving thread asks for. */
export type Request =
  | { type: 'update'; job: IndexJob; documents: string }
  | { type: 'keep_only'; instance: number; signatures: readonly string[] }
  | { type: 'drop'; instance: number }
  | { type: 'discard'; number: number; root: number }
  | { type: 'released'; folder: string }
  | { type: 'settings'; settings: Pick<ThreadSettings, 'timeout_ms' | 'reduce_limit'> }
  /** Be ready for updates. */
  | { type: 'warm' }
  | { type: 'renew' }
  | { type: 'close' };

/** Messages about a request before its answer. */
export interface Progress {
  done: number;
  total: number;
}

/** What the index thread asks of the serving thread. */
export type Asked =
  | { type: 'log'; space: string; message: string }
  /** Calls of functions since the last message of this kind. */
  | { type: 'calls'; counts: MapCounts }
  /** The store has to be opened again: the serving thread closes it until `reopened`. */
  | { type: 'release' }
  | { type: 'reopened' };
