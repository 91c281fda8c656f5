import { readFormatRecord, formatKey, summedFormat, upgradingFormat } from './lmdb-format.js';
import { withChecksum } from './lmdb-records.js';
import { LmdbStore } from './lmdb-store.js';
import { probeKey } from './lmdb-writer.js';
import { keyBytesMax, type Bytes, type Store, type Write } from './store.js';

/** Records rewritten in one commit at most, and about how many bytes. */
const batchRecordsMax = 5_000;
const batchBytesMax = 8 * 1024 * 1024;

/** Behind the keys that are the store's own. */
const firstKey = '\0\0\0';
const lastKey = '\xff'.repeat(keyBytesMax);

/**
 * Gives every record of a store of an earlier version its checksum. Each commit writes, with the records, where the next
 * one begins: it can be cut short after any of them, and goes on where it was. A store that has all its checksums is left
 * alone. Nothing else may use the store meanwhile.
 */
export async function addChecksums(folder: string): Promise<void> {
  const store = new LmdbStore(folder, undefined, undefined, { asStored: true });
  try {
    for (let start = nextKey(store); start !== undefined;) start = await addToBatch(store, start);
  } finally {
    await store.close();
  }
}

/** Where checksums are missing from; undefined where none is. */
function nextKey(store: Store): Bytes | undefined {
  const format = readFormatRecord(store.get(formatKey));
  if (format === summedFormat) return undefined;
  return format === undefined ? firstKey : format.slice(upgradingFormat.length);
}

async function addToBatch(store: Store, start: Bytes): Promise<Bytes | undefined> {
  // An earlier version may have been stopped between writing this and removing it.
  const writes: Write[] = [{ key: probeKey, value: undefined }];
  let next: Bytes | undefined;
  let bytes = 0;
  for (const { key, value } of store.entries({ start, end: lastKey })) {
    if (writes.length > batchRecordsMax || bytes > batchBytesMax) {
      next = key;
      break;
    }
    writes.push({ key, value: withChecksum(key, value) });
    bytes += key.length + value.length;
  }
  const format = next === undefined ? summedFormat : upgradingFormat + next;
  await store.write([...writes, { key: formatKey, value: withChecksum(formatKey, format) }]).flushed;
  return next;
}
