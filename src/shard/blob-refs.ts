import { asBytes, ByteReader, noBytes, varint, type Bytes } from '../base/bytes.js';
import { fromHex } from './blob-record.js';
import { attachmentsOf, type Attachment } from './content.js';
import type { DatabaseKeys } from './keys.js';
import type { ShardState } from './shard-state.js';
import type { GroupView } from './write-view.js';

/**
 * Who needs which blob. Each shard counts its kept revisions that name a blob; the group counts its shards that do, and
 * keeps the bytes of small blobs beside that count. All of it belongs to the group and changes in the transaction of the
 * document, so a count is never wrong. What that means for the volume is derived from it: `volume-blobs.ts`.
 */
export class BlobRefs {
  constructor(
    private readonly keys: DatabaseKeys,
    private readonly view: GroupView,
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
      ({ blob }) =>
        small?.has(blob) || stored?.has(blob) || this.view.get(this.keys.blob(fromHex(blob))) !== undefined,
    );
  }

  add(content: Bytes, small: ReadonlyMap<string, Bytes> | undefined): void {
    for (const attachment of attachmentsOf(content)) this.#count(attachment, 1, small?.get(attachment.blob));
  }

  drop(content: Bytes): void {
    for (const attachment of attachmentsOf(content)) this.#count(attachment, -1, undefined);
  }

  #count({ blob, storedLength, length }: Attachment, by: 1 | -1, small: Bytes | undefined): void {
    const home = this.view.shards(this.keys)?.blobHome(this.shard) ?? this.shard;
    const key = this.keys.blobRef(home, fromHex(blob));
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
    this.#countShard(blob, by, small);
  }

  /** `shards(varint) [bytes]`: the bytes only of small blobs. */
  #countShard(blob: string, by: 1 | -1, small: Bytes | undefined): void {
    const key = this.keys.blob(fromHex(blob));
    const old = this.view.get(key);
    const reader = new ByteReader(old ?? asBytes('\0'));
    const count = reader.varint() + by;
    const bytes = old === undefined ? (small ?? noBytes) : reader.rest();
    if (count > 0) this.view.put(key, asBytes(varint(count) + bytes));
    else this.view.remove(key);
    if (bytes === '' && (old === undefined || count === 0)) this.view.namesFile(blob, by);
  }
}
