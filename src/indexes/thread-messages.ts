import type { ReduceLimit } from '../script/script-host.js';
import type { RequestErrorData } from '../base/errors.js';
import type { FailedView, IndexJob } from './index-job.js';

/** How the index thread is set up. */
export interface ThreadSettings {
  folder: string;
  threads: number;
  memory_bytes: number;
  timeout_ms: number;
  reduce_limit: ReduceLimit;
}

/** What the serving thread asks for. Each is answered once, under its number. */
export type Request =
  | { type: 'update'; job: IndexJob; documents: string }
  | { type: 'keep_only'; instance: number; signatures: readonly string[] }
  | { type: 'drop'; instance: number }
  | { type: 'discard'; number: number; root: number }
  | { type: 'released'; folder: string }
  | { type: 'settings'; settings: Pick<ThreadSettings, 'timeout_ms' | 'reduce_limit'> }
  | { type: 'renew' }
  /** The answers to `release` and `reopened`. */
  | { type: 'store_released' }
  | { type: 'store_resumed' }
  | { type: 'close' };

export type Numbered = Request & { id: number };

export type Reply =
  | { type: 'done'; id: number; failed: readonly FailedView[] }
  | { type: 'refused'; id: number; refusal: RequestErrorData }
  | { type: 'failed'; id: number; message: string }
  | { type: 'progress'; id: number; done: number; total: number }
  | { type: 'log'; space: string; message: string }
  /** The store has to be opened again: the serving thread lets go of it until `reopened`. */
  | { type: 'release' }
  | { type: 'reopened' };
