import { asBytes, ByteReader, noBytes, u8, varint, type Bytes } from '../base/bytes.js';
import type { Entry, Store, Write } from '../storage/store.js';
import { prefixEnd } from '../storage/store.js';
import { smallBlob } from './blob-record.js';
import { DatabaseKeys } from './keys.js';
import { filesPrefix, oldBlobsPrefix } from './volume-blobs.js';

/** Blob references looked at in one commit at most, and about how many bytes of small blobs. */
const batchRefsMax = 2_000;
const batchBytesMax = 8 * 1024 * 1024;

/** Keys that belong to no group begin with the instance number 0. */
const versionKey = asBytes('\0\0\0\0\0v');
const progressKey = asBytes('\0\0\0\0\0u');
const firstGroup = asBytes('\0\0\0\0\x01');
/** Behind all groups. */
const lastKey = asBytes('\xff'.repeat(6));

/** What a volume of this version has from its beginning on. */
export const versionWrite: Entry = { key: versionKey, value: u8(2) };

export const needsUpgrade = (store: Pick<Store, 'get'>): boolean => store.get(versionKey) === undefined;

/**
 * Brings a volume of version 1 up to version 2. In version 1 the volume as a whole counted the shards that name a blob, and
 * kept the bytes of small blobs; in version 2 each group does. So the counts of groups are made from the references of
 * their shards, with copies of the bytes; then the records of the volume are removed.
 *
 * Each commit writes, with what it adds, the key where the next one begins: it can be cut short after any of them, and
 * goes on where it was. Nothing else may use the store meanwhile.
 */
export async function upgradeVolume(store: Store): Promise<void> {
  for (let start = store.get(progressKey) ?? firstGroup; start !== lastKey;) {
    const { writes, next } = nextBatch(store, start);
    await store.write([...writes, { key: progressKey, value: next }]).flushed;
    start = next;
  }
  const old = { start: oldBlobsPrefix, end: prefixEnd(oldBlobsPrefix), limit: batchRefsMax };
  for (;;) {
    const removed = [...store.keys(old)].map((key): Write => ({ key, value: undefined }));
    if (removed.length === 0) break;
    await store.write(removed).flushed;
  }
  await store.write([versionWrite, { key: progressKey, value: undefined }]).flushed;
}

/** The next references of a group, and where the batch after them begins. */
function nextBatch(store: Store, start: Bytes): { writes: Write[]; next: Bytes } {
  for (let from = start; ;) {
    const [key] = from < lastKey ? store.keys({ start: from, end: lastKey, limit: 1 }) : [];
    if (key === undefined) return { writes: [], next: lastKey };
    const keys = new DatabaseKeys(Buffer.from(key.slice(0, 5), 'latin1').readUIntBE(0, 5));
    const refs = keys.blobRefsRange;
    const batch =
      from < refs.end ? countShards(store, keys, from < refs.start ? refs.start : from) : undefined;
    if (batch !== undefined) return batch;
    from = keys.range.end;
  }
}

function countShards(
  store: Store,
  keys: DatabaseKeys,
  start: Bytes,
): { writes: Write[]; next: Bytes } | undefined {
  const { end, start: first } = keys.blobRefsRange;
  const records = new Map<Bytes, { shards: number; bytes: Bytes; isNew: boolean }>();
  let next: Bytes | undefined;
  let bytes = 0;
  for (const key of store.keys({ start, end, limit: batchRefsMax })) {
    const digest = key.slice(first.length + 2);
    let record = records.get(digest);
    if (record === undefined) records.set(digest, (record = recordOf(store, keys, digest)));
    record.shards++;
    next = asBytes(`${key}\0`);
    bytes += record.bytes.length;
    if (bytes > batchBytesMax) break;
  }
  if (next === undefined) return undefined;
  const writes = [...records].flatMap(([digest, { shards, bytes: small, isNew }]): Write[] => {
    const counted = { key: keys.blob(digest), value: asBytes(varint(shards) + small) };
    return isNew && small === '' ? [counted, fileWrite(store, digest)] : [counted];
  });
  return { writes, next };
}

/** What the group has of a blob so far; the bytes of a small one are still with the volume. */
function recordOf(
  store: Store,
  keys: DatabaseKeys,
  digest: Bytes,
): { shards: number; bytes: Bytes; isNew: boolean } {
  const counted = store.get(keys.blob(digest));
  if (counted === undefined)
    return {
      shards: 0,
      bytes: smallBlob(store.get(asBytes(oldBlobsPrefix + digest))) ?? noBytes,
      isNew: true,
    };
  const reader = new ByteReader(counted);
  return { shards: reader.varint(), bytes: reader.rest(), isNew: false };
}

/** Counts one group more that names a file. */
function fileWrite(store: Store, digest: Bytes): Write {
  const old = store.get(asBytes(filesPrefix + digest));
  return {
    key: asBytes(filesPrefix + digest),
    value: varint((old === undefined ? 0 : new ByteReader(old).varint()) + 1),
  };
}
