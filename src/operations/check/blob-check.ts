import { createHash } from 'node:crypto';
import { asBytes, ByteReader, varint, type Bytes } from '../../base/bytes.js';
import { fromHex, smallBlob, toHex } from '../../shard/blob-record.js';
import { DatabaseKeys } from '../../shard/keys.js';
import { fileWrite, filesIn } from '../../shard/volume-blobs.js';
import type { Store, Write } from '../../storage/store.js';
import { emptySha256 } from '../digest.js';
import type { Findings } from './finding.js';

/**
 * Compares what databases say of their blobs, and what their volume says of files, with what documents name. Nothing is
 * written; `takeWrites` gives what would put right what can be.
 */
export class BlobCheck {
  #writes: Write[] = [];
  attachments = 0;
  /** The blobs that documents name and that should be there as files. */
  readonly files = new Set<string>();
  /** How many databases have a record of a blob that is kept as a file. */
  readonly #groups = new Map<string, number>();
  /** Whether all that documents name is known. */
  isComplete = true;

  constructor(
    private readonly name: string,
    private readonly store: Pick<Store, 'entries'>,
    private readonly findings: Findings,
    private readonly hasFile: (blob: string) => boolean,
  ) {}

  /** `shards` has, by digest, the shards of the database that name a blob; all of them, or all that could be read. */
  database(instance: number, shards: ReadonlyMap<string, number>, isComplete = true): void {
    if (!isComplete) this.isComplete = false;
    const keys = new DatabaseKeys(instance);
    const { start, end } = keys.blobsRange;
    const left = new Map(shards);
    for (const { key, value } of this.store.entries({ start, end })) {
      const blob = toHex(key.slice(start.length));
      left.delete(blob);
      this.#record(blob, value, shards.get(blob) ?? 0, key);
    }
    for (const [blob, count] of left) {
      this.files.add(blob);
      if (!this.hasFile(blob)) continue;
      this.#countGroup(blob);
      this.#repair(blob, 'The database does not know that documents name it.', {
        key: keys.blob(fromHex(blob)),
        value: varint(count),
      });
    }
  }

  #record(blob: string, value: Bytes, expected: number, key: Bytes): void {
    const bytes = smallBlob(value)!;
    if (bytes === '') this.#countGroup(blob);
    if (expected === 0) return;
    this.attachments++;
    if (bytes === '' && (blob !== emptySha256 || this.hasFile(blob))) this.files.add(blob);
    if (bytes !== '' && createHash('sha256').update(bytes, 'latin1').digest('hex') !== blob)
      this.findings.add(this.#about(blob), 'Its bytes have changed. Restore it from a backup or a replica.');
    if (new ByteReader(value).varint() === expected) return;
    this.#repair(blob, 'The shards that name it are counted wrong.', {
      key,
      value: asBytes(varint(expected) + bytes),
    });
  }

  /** What puts right what was found since the last call. */
  takeWrites(): Write[] {
    const writes = this.#writes;
    this.#writes = [];
    return writes;
  }

  /** To be called when all databases of the volume are done. */
  volume(): void {
    const left = new Map(this.#groups);
    for (const [blob, groups] of filesIn(this.store)) {
      const expected = left.get(blob) ?? 0;
      left.delete(blob);
      if (groups !== expected)
        this.#repair(blob, 'The databases that name it are counted wrong.', fileWrite(blob, expected));
    }
    for (const [blob, expected] of left)
      this.#repair(blob, 'The volume does not know that documents name it.', fileWrite(blob, expected));
  }

  #countGroup(blob: string): void {
    this.#groups.set(blob, (this.#groups.get(blob) ?? 0) + 1);
  }

  #about(blob: string): string {
    return `${this.name}, attachment ${blob}`;
  }

  /** What is counted is not known where documents can't be read. */
  #repair(blob: string, message: string, write: Write): void {
    if (!this.isComplete) return;
    this.findings.addRepairable(this.#about(blob), message);
    this.#writes.push(write);
  }
}
