import { asBytes, type Bytes } from '../base/bytes.js';

/**
 * What the rest of the database asks of a place that keeps bytes: an ordered map with atomic, durable batches.
 *
 * Keys and values are *byte strings*: JavaScript strings whose character codes are bytes (0 to 255). V8 keeps them as
 * one byte per character, cuts and joins them without copying, compares them in byte order, and uses them as map keys;
 * a document travels from the disk to the socket without ever being decoded. `json/` has the helpers.
 *
 * Reads see every batch whose `committed` has resolved, and perhaps one more that is just about to. An iteration sees one moment for as
 * long as it runs; it must be finished or left within the same turn of the event loop, so that no read transaction
 * outlives a turn or waits on a socket. Long listings resume by key.
 *
 * The keys of one and of two zero bytes are the store's own. What a value was is what is read: where the bytes on the disk
 * have changed, reading them throws.
 */
export type { Bytes };

export interface Entry {
  key: Bytes;
  value: Bytes;
}

/** An entry whose key ends with six bytes that are a number, the high byte first: all of the key that is wanted. */
export interface NumberedEntry {
  key: number;
  value: Bytes;
}

export interface Range {
  /** First key that belongs to the range. */
  start: Bytes;
  /** First key that no longer does. */
  end: Bytes;
  /** Walk from the end to the start. */
  reverse?: boolean;
  /** Where the beginning of each value is enough: so many bytes of it. A store may give more. */
  headBytes?: number;
  /** Where the beginning of each key is known: so many bytes of it are left out. */
  keyFrom?: number;
  /** Entries to pass over first. */
  offset?: number;
  limit?: number;
}

/** A put, or a removal where `value` is undefined. */
export interface Write {
  key: Bytes;
  value: Bytes | undefined;
}

/** What has become of a batch, and when. `flushed` never resolves before `committed`. */
export interface Commit {
  /** Readers see it. */
  committed: Promise<void>;
  /** It survives the loss of power. */
  flushed: Promise<void>;
}

export interface StoreSize {
  /** Bytes the store takes on disk (or in memory). */
  file_bytes: number;
  /** Bytes of that in use; the rest can only be given back by copying the store. */
  used_bytes: number;
}

export interface Store {
  get(key: Bytes): Bytes | undefined;
  /** The same, for a value that is hardly asked for again soon: nothing remembers it. */
  getUncached(key: Bytes): Bytes | undefined;
  entries(range: Range): Iterable<Entry>;
  keys(range: Range): Iterable<Bytes>;
  /** Entries read at once, up to and with the one that brings them to so many bytes of keys and values. */
  list(range: Range, bytesMax: number): Entry[];
  /** The same with numbers for keys, which are read faster than texts. */
  listNumbered(range: Range): NumberedEntry[];
  count(range: { start: Bytes; end: Bytes }): number;
  /** All of the writes or none; batches are committed in the order of the calls. */
  write(batch: readonly Write[]): Commit;
  /** Lets readers of this thread see what another thread has committed to the same store. */
  refresh(): void;
  /** Gives up what readers in other processes hold that have ended without letting go, so that its room can be used again. */
  forgetReaders?(): void;
  size(): StoreSize;
  /** How many keys a copy has to have. */
  keyCount(): number;
  /** Writes a compact copy of what is committed now into an empty folder. */
  copyTo(folder: string): Promise<void>;
  close(): Promise<void>;
}

/** A store as it was at one moment, for readers that need more than a turn. */
export interface StoreSnapshot extends Pick<Store, 'get' | 'entries'> {
  release(): void;
}

/** The longest key every store takes. */
export const keyBytesMax = 1978;

/** What a copy of a store consists of: every key but that of one zero byte, which comes and goes. */
export const copiedKeys = { start: asBytes('\0\0'), end: asBytes('\xff'.repeat(keyBytesMax)) };

/** The first key that does not begin with `prefix`. */
export function prefixEnd(prefix: Bytes): Bytes {
  let n = prefix.length;
  while (n > 0 && prefix.charCodeAt(n - 1) === 0xff) n--;
  if (n === 0) return asBytes('\xff'.repeat(keyBytesMax));
  return asBytes(prefix.slice(0, n - 1) + String.fromCharCode(prefix.charCodeAt(n - 1) + 1));
}
