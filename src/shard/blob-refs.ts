import { ByteReader, varint, type Bytes } from '../base/bytes.js';
import { prefixEnd, type Entry, type Store } from '../storage/store.js';
import { attachmentsOf, type Attachment } from './content.js';
import type { DatabaseKeys } from './keys.js';
import type { ShardState } from './shard-state.js';
import type { WriteView } from './write-view.js';

/**
 * Who needs which blob. Each shard counts the kept revisions that name a blob; each volume counts the shards that do,
 * and keeps the bytes of small blobs beside that count. A blob that no shard of the volume needs any more is put on
 * the list of released ones, for the node to look whether another volume does. All of it changes in the transaction
 * of the document, so a count is never wrong, whatever happens.
 */
export class BlobRefs {
  constructor(
    private readonly keys: DatabaseKeys,
    private readonly view: WriteView,
    private readonly shard: number,
    private readonly state: ShardState,
  ) {}

  /** Whether everything that a revision names is there, or comes with the command. */
  has(
    content: Bytes,
    small: ReadonlyMap<string, Bytes> | undefined,
    stored: ReadonlySet<string> | undefined,
  ): boolean {
    return attachmentsOf(content).every(
      ({ blob }) => small?.has(blob) || stored?.has(blob) || this.view.get(volumeKey(blob)) !== undefined,
    );
  }

  add(content: Bytes, small: ReadonlyMap<string, Bytes> | undefined): void {
    for (const attachment of attachmentsOf(content)) this.#count(attachment, 1, small?.get(attachment.blob));
  }

  drop(content: Bytes): void {
    for (const attachment of attachmentsOf(content)) this.#count(attachment, -1, undefined);
  }

  #count({ blob, storedLength, length }: Attachment, by: 1 | -1, small: Bytes | undefined): void {
    const key = this.keys.blobRef(this.shard, fromHex(blob));
    const old = this.view.get(key);
    const before = old === undefined ? 0 : new ByteReader(old).varint();
    const after = before + by;
    if (old !== undefined) this.state.stored_bytes -= key.length + old.length;
    if (after > 0) {
      const value = varint(after);
      this.view.put(key, value);
      this.state.stored_bytes += key.length + value.length;
    } else this.view.remove(key);
    if (before > 0 === after > 0) return;
    this.state.stored_bytes += by * storedLength;
    this.state.attachment_bytes += by * storedLength;
    this.state.external_bytes += by * length;
    countInVolume(this.view, blob, by, small);
  }
}

/** Keys that belong to no database begin with the instance number 0. */
const volumePrefix = '\0\0\0\0\0';
const blobPrefix = `${volumePrefix}b`;
export const releasedPrefix = `${volumePrefix}r`;

export const volumeKey = (blob: string): Bytes => blobPrefix + fromHex(blob);
const releasedKey = (blob: string): Bytes => releasedPrefix + fromHex(blob);

/** `shards(varint) [bytes]`: the bytes only of small blobs. */
export function countInVolume(view: WriteView, blob: string, by: 1 | -1, small: Bytes | undefined): void {
  const key = volumeKey(blob);
  const old = view.get(key);
  const reader = new ByteReader(old ?? '\0');
  const count = reader.varint() + by;
  const bytes = old === undefined ? (small ?? '') : reader.rest();
  if (count > 0) view.put(key, varint(count) + bytes);
  else {
    view.remove(key);
    if (bytes === '') view.put(releasedKey(blob), '');
  }
  if (by > 0 && old === undefined) view.remove(releasedKey(blob));
}

/** The bytes of a small blob; empty text for one that is kept as a file; undefined where nobody needs it. */
export function smallBlob(bytes: Bytes | undefined): Bytes | undefined {
  if (bytes === undefined) return undefined;
  const reader = new ByteReader(bytes);
  reader.varint();
  return reader.rest();
}

export const fromHex = (hex: string): Bytes => Buffer.from(hex, 'hex').latin1Slice(0, hex.length / 2);
export const toHex = (bytes: Bytes): string => Buffer.from(bytes, 'latin1').toString('hex');

/** All that a volume says of blobs; `headBytes` where the bytes of small ones are not wanted. */
export const volumeBlobs = (store: Pick<Store, 'entries'>, headBytes?: number): Iterable<Entry> =>
  store.entries({
    start: blobPrefix,
    end: prefixEnd(blobPrefix),
    ...(headBytes === undefined ? {} : { headBytes }),
  });

/** The digests of the blobs kept as files that a volume names. */
export function* blobsNamedIn(store: Pick<Store, 'entries'>): Iterable<string> {
  for (const { key, value } of volumeBlobs(store, 16))
    if (smallBlob(value) === '') yield toHex(key.slice(blobPrefix.length));
}
