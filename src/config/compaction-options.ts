import { boolean, integer } from './options.js';

/** What the server does by itself to give disk space back. */
export const compactionOptions = {
  'tuffet/auto_compaction': boolean(
    true,
    'Remove superseded revisions, with attachments that only they have, and give disk space back, without being asked.',
  ),
  'tuffet/auto_compaction_percent': integer(
    20,
    1,
    10_000,
    'A database is compacted when what compaction would remove takes this share, in percent, of what would be left.',
  ),
  'tuffet/auto_compaction_bytes_min': integer(
    4_000_000,
    0,
    1_000_000_000_000,
    'Bytes that compaction must remove at least to begin by itself.',
  ),
  'tuffet/reclaim_percent': integer(
    40,
    5,
    95,
    'A file of documents of which this share is free, in percent, and at least 8 MiB, is replaced by a compact copy.',
  ),
};
