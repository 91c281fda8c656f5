import { formed, integer, limit } from './options.js';

/** Options that bound what requests may take together, or for how long. */
export const trafficOptions = {
  'tuffet/compress_bytes_min': limit(
    32_768,
    1_024,
    'Smallest JSON answer that is compressed with gzip, in bytes, where the client takes that (`Accept-Encoding`); `infinity` for none.',
  ),
  'tuffet/json_bytes_max': limit(
    4 * 1024 * 1024,
    1_024,
    'Largest JSON body that is read as a whole, in bytes: of queries, lists of keys and revisions, settings. Documents, ' +
      '`_bulk_docs` and attachments have limits of their own.',
  ),
  'tuffet/query_timeout_ms': limit(
    60_000,
    1,
    'Milliseconds that one `_find` or `_search` may take, without the time for which it waits for its index or its client.',
  ),
  'tuffet/body_idle_timeout_ms': limit(
    60_000,
    100,
    'Milliseconds without a byte of a request body after which the request is answered with 408.',
  ),
  'tuffet/workers': formed(
    '1',
    /^(?:auto|[1-9]|[1-5]\d|6[0-4])$/,
    'a number from 1 to 64, or auto',
    'Processes that serve connections: the one that owns the data folder, and others that read it and forward what they do ' +
      'not answer themselves. `auto`: one for each processor, at most 4, and 1 with less than 2 GB of memory. A node of a cluster always has one. Read at start.',
  ),
  'tuffet/close_timeout_ms': integer(
    5_000,
    0,
    3_600_000,
    'Milliseconds that requests under way have to finish when the server is stopped; then their connections are closed.',
  ),
  'tuffet/answer_idle_timeout_ms': limit(
    60_000,
    100,
    'Milliseconds after which the connection of a client that takes nothing of its answer is closed.',
  ),
  'tuffet/request_memory_bytes': limit(
    134_217_728,
    1_048_576,
    'Bytes of request bodies held in memory at once, without those below 64 KB and those that go through files.',
  ),
  'tuffet/answer_memory_bytes': limit(
    134_217_728,
    1_048_576,
    'Bytes of answers above 256 KB that wait in memory for their clients to take them.',
  ),
  'tuffet/batch_memory_bytes': limit(
    67_108_864,
    65_536,
    'Bytes of documents of `batch=ok` that wait to be saved, in all databases.',
  ),
} as const;
