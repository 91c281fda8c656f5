import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { BoundedMap } from '../base/bounded-map.js';
import { BlobDamage } from './blob-store.js';

/** Blobs known to be sound; others are hashed again when they are read. */
const soundMax = 10_000;

/** Is shown all bytes of a blob in their order, and asked before the last are given out. */
export interface BlobCheck {
  update(chunk: Buffer): void;
  /** Throws when the bytes are not those of the digest. */
  end(): void;
}

/**
 * Which files have been seen to hold what their name says. Hashing costs about as much as reading, so a file is hashed
 * when it is first read as a whole, and again when it looks as if it had been written since.
 */
export class BlobChecks {
  /** What a file looked like when it was hashed, by digest. */
  readonly #sound = new BoundedMap<string, string>(soundMax);

  /** The check that a file needs; undefined for one that is known to be sound. */
  of(digest: string, stats: Stats, onDamage: () => void): BlobCheck | undefined {
    const look = `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
    if (this.#sound.get(digest) === look) return undefined;
    const hash = createHash('sha256');
    return {
      update: (chunk) => void hash.update(chunk),
      end: () => {
        this.#sound.delete(digest);
        if (hash.digest('hex') === digest) return this.#sound.set(digest, look);
        onDamage();
        throw new BlobDamage('its bytes do not match its digest');
      },
    };
  }
}
