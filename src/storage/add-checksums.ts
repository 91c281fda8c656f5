import { asBytes } from '../base/bytes.js';
import { currentSums } from './checksum.js';
import { formatKey, formatRecord, readFormatRecord, type FormatRecord } from './lmdb-format.js';
import { withChecksum } from './lmdb-records.js';
import { LmdbStore } from './lmdb-store.js';
import { probeKey } from './lmdb-writer.js';
import { keyBytesMax, type Bytes, type Store, type Write } from './store.js';

/** Records rewritten in one commit at most, and about how many bytes. */
const batchRecordsMax = 5_000;
const batchBytesMax = 8 * 1024 * 1024;

/** Behind the keys that are the store's own. */
const firstKey = asBytes('\0\0\0');
const lastKey = asBytes('\xff'.repeat(keyBytesMax));

/**
 * Gives every record of a store of an earlier version its checksum. Each commit writes, with the records, where the next
 * one begins: it can be cut short after any of them, and goes on where it was. A store that has all its checksums is left
 * alone. Nothing else may use the store meanwhile.
 */
export async function addChecksums(folder: string): Promise<void> {
  const store = new LmdbStore(folder, undefined, undefined, { asStored: true });
  try {
    let format = readFormatRecord(store.get(formatKey)) ?? { sums: currentSums, next: firstKey };
    while (format.next !== undefined) format = await addToBatch(store, format, format.next);
  } finally {
    await store.close();
  }
}

async function addToBatch(store: Store, { sums }: FormatRecord, start: Bytes): Promise<FormatRecord> {
  // An earlier version may have been stopped between writing this and removing it.
  const writes: Write[] = [{ key: probeKey, value: undefined }];
  let next: Bytes | undefined;
  let bytes = 0;
  for (const { key, value } of store.entries({ start, end: lastKey })) {
    if (writes.length > batchRecordsMax || bytes > batchBytesMax) {
      next = key;
      break;
    }
    writes.push({ key, value: withChecksum(key, value, sums) });
    bytes += key.length + value.length;
  }
  const format = { sums, next };
  await store.write([...writes, { key: formatKey, value: formatRecord(format) }]).flushed;
  return format;
}
