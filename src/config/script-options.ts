import { choice, integer } from './options.js';

/** Options of the functions in design documents. Parts of `schema.ts`. */
export const scriptOptions = {
  'couchdb/os_process_timeout': integer(
    5_000,
    100,
    3_600_000,
    'Milliseconds that one call of a function in a design document may take.',
  ),
  'query_server_config/reduce_limit': choice(
    'true',
    ['true', 'false', 'log'],
    'Whether a reduce function must give less than it is given: `true` makes it an error if not, `log` a line in the log.',
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
};
