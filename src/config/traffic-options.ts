import { integer, limit } from './options.js';

/** Options that bound what requests may take together, or for how long. */
export const trafficOptions = {
  'tuffet/query_timeout_ms': limit(
    60_000,
    1,
    'Milliseconds that one `_find` may search, without the time for which it waits for its index or its client.',
  ),
  'tuffet/body_idle_timeout_ms': limit(
    60_000,
    100,
    'Milliseconds without a byte of a request body after which the request is answered with 408.',
  ),
  'tuffet/close_timeout_ms': integer(
    5_000,
    0,
    3_600_000,
    'Milliseconds that requests under way have to finish when the server is stopped; then their connections are closed.',
  ),
} as const;
