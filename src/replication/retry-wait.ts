import { backoffMs } from '../base/backoff.js';
import type { Config } from '../config/config.js';

const longestMs = 8 * 3_600_000;

/** How long a replication waits after that many failures in a row. */
export const retryWaitMs = (config: Config, failures: number): number =>
  backoffMs(failures, { firstMs: config.number('tuffet/replication_backoff_ms'), longestMs });
