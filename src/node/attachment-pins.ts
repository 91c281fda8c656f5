import { createHash } from 'node:crypto';
import type { Bytes } from '../base/bytes.js';
import type { BlobStore } from '../blobs/blob-store.js';
import type { Attachment } from '../shard/content.js';
import type { Database } from './database.js';

/** Bytes of small attachments kept for all answers together; what is beyond is read when its turn comes. */
const smallBytesMax = 16 * 1024 * 1024;

/** Small attachments whose bytes have been compared with their digest; others are compared when they are read. */
const soundMax = 10_000;

interface Small {
  readonly bytes: Bytes;
  holders: number;
}

/**
 * Attachments that answers under way have promised. An answer with several takes as long as its client does, and a
 * purge or compaction meanwhile would leave it without the bytes of those whose turn has not come. So they are held
 * from the moment their document is read: large ones where they lie, small ones by copies, since they stand in the
 * documents' store and go with the document.
 */
export class AttachmentPins {
  readonly #small = new Map<string, Small>();
  #smallBytes = 0;
  readonly #sound = new Set<string>();

  constructor(private readonly blobs: BlobStore) {}

  /** To be called in the turn in which the document was read. Resolves with what lets go, which may be called again. */
  async hold(database: Database, attachments: Iterable<Attachment>): Promise<() => void> {
    const releases: (() => void)[] = [];
    const large: Promise<() => void>[] = [];
    for (const blob of new Set(Array.from(attachments, (each) => each.blob))) {
      const kept = this.#small.get(blob);
      const small = kept?.bytes ?? database.collection.smallBlob(blob);
      if (small === undefined || small === '') large.push(this.blobs.hold(blob));
      else if (kept !== undefined || this.#smallBytes + small.length <= smallBytesMax)
        releases.push(this.#keep(blob, small));
    }
    releases.push(...(await Promise.all(large)));
    return () => {
      for (const release of releases.splice(0)) release();
    };
  }

  /** The bytes of a small attachment that is held. */
  small(blob: string): Bytes | undefined {
    return this.#small.get(blob)?.bytes;
  }

  /** Whether the bytes of a small attachment, as they were read, are those of its digest. */
  isSound(blob: string, bytes: Buffer): boolean {
    if (this.#sound.has(blob)) return true;
    if (createHash('sha256').update(bytes).digest('hex') !== blob) return false;
    if (this.#sound.size >= soundMax) this.#sound.clear();
    this.#sound.add(blob);
    return true;
  }

  #keep(blob: string, bytes: Bytes): () => void {
    let small = this.#small.get(blob);
    if (small === undefined) {
      this.#small.set(blob, (small = { bytes, holders: 0 }));
      this.#smallBytes += bytes.length;
    }
    small.holders++;
    return () => {
      if (--small.holders > 0) return;
      this.#small.delete(blob);
      this.#smallBytes -= bytes.length;
    };
  }
}
