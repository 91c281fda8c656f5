import { asBytes, ByteReader, noBytes, varint, type Bytes } from '../base/bytes.js';
import type { Overlay } from '../storage/overlay.js';
import { prefixEnd, type Store, type Write } from '../storage/store.js';
import { fromHex, smallBlob, toHex } from './blob-record.js';

/**
 * Blobs kept as files are shared by all groups of a node. Each volume counts its groups that name a file, and lists those
 * that none names any more, for the node to look whether another volume does. Both are derived from what commands do to
 * groups, in the same transaction; no command reads them.
 */

/** Keys that belong to no group begin with the instance number 0. */
const volumePrefix = '\0\0\0\0\0';
/** Volumes of version 1 have what each group has now: `upgrade-volume.ts`. */
export const oldBlobsPrefix = asBytes(`${volumePrefix}b`);
export const filesPrefix = asBytes(`${volumePrefix}f`);
const releasedPrefix = asBytes(`${volumePrefix}r`);

const fileKey = (blob: string): Bytes => asBytes(filesPrefix + fromHex(blob));
const releasedKey = (blob: string): Bytes => asBytes(releasedPrefix + fromHex(blob));

/** Whether a group of the volume names a blob that is kept as a file. */
export const namesFile = (source: Pick<Store, 'get'>, blob: string): boolean =>
  source.get(fileKey(blob)) !== undefined;

/** A group has begun to name a file, or has ceased to. */
export function countFile(overlay: Pick<Overlay, 'get' | 'put' | 'remove'>, blob: string, by: 1 | -1): void {
  const key = fileKey(blob);
  const old = overlay.get(key);
  const count = (old === undefined ? 0 : new ByteReader(old).varint()) + by;
  if (count > 0) overlay.put(key, varint(count));
  else {
    overlay.remove(key);
    overlay.put(releasedKey(blob), noBytes);
  }
  if (by > 0 && old === undefined) overlay.remove(releasedKey(blob));
}

/** Takes a blob off the list of released ones, unless it is needed again. */
export function forgetReleased(overlay: Overlay, blob: string): boolean {
  if (namesFile(overlay, blob)) return false;
  overlay.remove(releasedKey(blob));
  return true;
}

/** Puts a blob on that list, unless it is needed. */
export function markReleased(overlay: Overlay, blob: string): void {
  if (!namesFile(overlay, blob)) overlay.put(releasedKey(blob), noBytes);
}

export function releasedBlobs(store: Store, limit: number): string[] {
  const range = { start: releasedPrefix, end: prefixEnd(releasedPrefix), limit };
  return [...store.keys(range)].map((key) => toHex(key.slice(releasedPrefix.length)));
}

/** The digests of the blobs kept as files that a volume names; also in a volume that is still to be upgraded. */
export function* blobsNamedIn(store: Pick<Store, 'keys' | 'entries'>): Iterable<string> {
  for (const key of store.keys({ start: filesPrefix, end: prefixEnd(filesPrefix) }))
    yield toHex(key.slice(filesPrefix.length));
  const old = { start: oldBlobsPrefix, end: prefixEnd(oldBlobsPrefix), headBytes: 16 };
  for (const { key, value } of store.entries(old))
    if (smallBlob(value) === '') yield toHex(key.slice(oldBlobsPrefix.length));
}

/** How many groups name each file, by its digest. */
export function* filesIn(store: Pick<Store, 'entries'>): Iterable<[blob: string, groups: number]> {
  for (const { key, value } of store.entries({ start: filesPrefix, end: prefixEnd(filesPrefix) }))
    yield [toHex(key.slice(filesPrefix.length)), new ByteReader(value).varint()];
}

/** Sets that number. */
export const fileWrite = (blob: string, groups: number): Write => ({
  key: fileKey(blob),
  value: groups === 0 ? undefined : varint(groups),
});
