/**
 * The bytes of attachments of one node, addressed by their SHA-256: identical bytes are stored once.
 *
 * A blob is written as a stream of unknown length. One that stays small (`smallBytesMax`) never becomes a file: its
 * bytes are given back, and the caller keeps them in its own store. Every other is complete and on disk before its
 * name is handed out.
 *
 * The store knows nothing of documents. The caller keeps the references to blobs, and the order of writes: a blob is
 * written first, then the document that names it is committed, then the lease is released. A crash in between leaves a
 * blob that no document references, never a document whose blob is missing; `list` finds the first kind.
 *
 * No blob that is about to be used is removed: `finish` returns with a *lease* on the blob, a reader *pins* the
 * one it streams, `hold` the one that will be streamed, and `remove` passes them over. Leases and pins hold within one process, so only the process that
 * writes to a store may remove from it.
 */
export interface BlobStore {
  begin(): BlobWriter;
  /**
   * Bytes `start` up to, not including, `end`. Undefined when there is no such blob. Fails with `BlobDamage` when bytes
   * that were read do not have the digest: at once, or while they are read, but always before the last of them are given
   * out. A part of a large blob is not checked.
   */
  read(digest: string, start?: number, end?: number): Promise<BlobReader | undefined>;
  has(digest: string): Promise<boolean>;
  /** Pins a blob without reading it. Resolves with what lets go, which may be called more than once. */
  hold(digest: string): Promise<() => void>;
  /** Removes what is neither leased nor pinned and gives back the digests it had to leave, to be tried again later. */
  remove(digests: Iterable<string>): Promise<string[]>;
  /** The digests of all complete blobs, in no order. May miss or show those that come or go meanwhile. */
  list(): AsyncIterable<string>;
  close(): Promise<void>;
}

/** Any number of writers may be at work at once. Each must be finished or aborted. */
export interface BlobWriter {
  /** Resolves when the next chunk is welcome, which must not come sooner. After a failure, only `abort` remains. */
  write(chunk: Buffer): Promise<void>;
  /** Resolves when the bytes survive the loss of power, or, of a small blob, when they are all known. */
  finish(): Promise<StoredBlob>;
  /** Leaves nothing behind. Does nothing after `finish`. */
  abort(): Promise<void>;
}

export interface BlobInfo {
  /** SHA-256, as 64 lower-case hex digits. */
  readonly digest: string;
  /** 16 bytes. */
  readonly md5: Buffer;
  readonly length: number;
}

export interface StoredBlob extends BlobInfo {
  /** The bytes themselves when they are at most `smallBytesMax`: the store has not kept them. */
  readonly small: Buffer | undefined;
  /** Ends the lease: to be called once, after the commit that names the blob, or when there will be none. */
  release(): void;
}

/** Pins its blob until it has been read to the end, left early, or closed. */
export interface BlobReader extends AsyncIterable<Buffer> {
  /** Of the whole blob, whatever part of it is read. */
  readonly length: number;
  /** Only needed if the reader is not iterated. */
  close(): Promise<void>;
}

/** The bytes stored under a digest don't match it. */
export class BlobDamage extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'BlobDamage';
  }
}

/** Blobs up to this size are given back to the caller instead of being kept. */
export const smallBytesMax = 32 * 1024;

const digestPattern = /^[0-9a-f]{64}$/;

export function requireDigest(digest: string): void {
  if (!digestPattern.test(digest)) throw new TypeError('a digest is 64 lower-case hex digits');
}
