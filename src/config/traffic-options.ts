import { limit } from './options.js';

/** Options that bound what requests may take together, or for how long. */
export const trafficOptions = {
  'tuffet/query_timeout_ms': limit(
    60_000,
    1,
    'Milliseconds that one `_find` may search, without the time for which it waits for its index or its client.',
  ),
} as const;
