import { boolean, checked, integer } from './options.js';
import { isPeriod } from './period.js';

const centurySeconds = 100 * 365 * 86_400;

/** Which sequences are of which time. */
export const timeSeqOptions = {
  'couchdb/time_seq_min_time': integer(
    1_754_006_400,
    0,
    Number.MAX_SAFE_INTEGER,
    'Seconds since 1970: while the clock shows an earlier time, it is taken to be wrong, and times of sequences are not recorded.',
  ),
};

/** How often the server looks at databases by itself. */
export const upkeepOptions = {
  'tuffet/time_seq_interval_seconds': integer(
    3_600,
    1,
    86_400,
    'Seconds after which the time and sequence of a database that has changed are recorded, for `_time_seq`, ' +
      '`since` with a time, and `_auto_purge`.',
  ),
  'tuffet/auto_purge_interval_seconds': integer(
    3_600,
    1,
    centurySeconds,
    'Seconds between two searches for deleted documents that are old enough to be purged. The first begins a minute after the start.',
  ),
  'tuffet/expiry_interval_seconds': integer(
    60,
    1,
    86_400,
    'Seconds between two searches for documents that have expired, in databases with `_expiry`.',
  ),
};

/** The purging of deleted documents by their age. */
export const autoPurgeOptions = {
  'couch_auto_purge_plugin/deleted_document_ttl': checked(
    '',
    isPeriod,
    'a period such as 30_days (units: sec, min, hour, day, week, month, year), or infinity',
    'The age at which deleted documents are purged, in databases without a setting of their own; empty or `infinity`: never.',
  ),
  'couch_auto_purge_plugin/max_batch_size': integer(500, 1, 10_000, 'Revisions that are purged in one step.'),
  'couch_auto_purge_plugin/dry_run': boolean(
    false,
    'Only report in the log how many deleted documents would be purged.',
  ),
};
