import { boolean, integer } from './options.js';

/** Indexes, and the functions of design documents that fill them. */
export const indexOptions = {
  'tuffet/index_threads': integer(
    0,
    0,
    16,
    'Threads that build indexes, each those of some databases; 0 for one per two processors, at most 4. Read at start.',
  ),
  'tuffet/index_cache_bytes': integer(
    64_000_000,
    0,
    100_000_000_000,
    'Bytes of recently used nodes of indexes that are kept in memory. Read at start.',
  ),
  'tuffet/background_indexing': boolean(
    false,
    'Bring views and indexes of queries up to date after changes, without waiting to be asked; design documents with ' +
      '`"autoupdate": false` are left out.',
  ),
  'tuffet/background_indexing_delay_ms': integer(
    1_000,
    0,
    3_600_000,
    'Milliseconds after the first change of a database until its indexes are brought up to date in the background.',
  ),
  'tuffet/script_threads': integer(
    4,
    1,
    64,
    'Most threads for validation, update, show, list and filter functions. Read at start.',
  ),
  'tuffet/script_memory_bytes': integer(
    67_108_864,
    16_777_216,
    1_073_741_824,
    'Bytes of memory that the functions of one database may take on one thread. Read at start.',
  ),
} as const;
