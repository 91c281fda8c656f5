import { folderFormat } from './data-folder.js';
import type { Database } from './database.js';
import type { Membership } from './membership.js';
import { encodeSequence } from './sequence.js';

/** What `GET /{db}` tells. */
export function databaseInfo(
  database: Database,
  membership: Pick<Membership, 'hostsOf'>,
): Record<string, unknown> {
  const sizes = sizesOf(database);
  // This node has a copy, also where it does not count any more.
  const copies = Math.max(1, membership.hostsOf(database.record.stream).length);
  const majority = Math.floor(copies / 2) + 1;
  return {
    db_name: database.name,
    purge_seq: database.total('purge_seq'),
    update_seq: encodeSequence(database),
    sizes,
    props: database.record.partitioned ? { partitioned: true } : {},
    doc_del_count: database.total('doc_del_count'),
    doc_count: database.total('doc_count'),
    disk_format_version: folderFormat,
    compact_running: database.compacting > 0,
    cluster: { q: database.q, n: copies, w: majority, r: majority },
    instance_start_time: '0',
    data_size: sizes.active,
    disk_size: sizes.file,
    other: { data_size: sizes.external },
  };
}

/**
 * Databases share volumes, so a database's part of the file is reckoned: its own records, with the share of the pages'
 * slack that falls to them, and its attachments. The parts of all databases add up to what the volumes use. What is
 * free in a file belongs to no database, and goes back to the system when the volume is replaced.
 */
function sizesOf(database: Database): { file: number; external: number; active: number } {
  const stored = database.total('stored_bytes');
  const active = stored - database.total('obsolete_bytes');
  return { file: database.collection.fileBytes, external: database.total('external_bytes'), active };
}
