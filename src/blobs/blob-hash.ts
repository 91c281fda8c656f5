import { createHash } from 'node:crypto';
import type { BlobInfo } from './blob-store.js';

/** What is known of a blob by looking at its bytes as they pass. */
export class BlobHash {
  readonly #sha256 = createHash('sha256');
  readonly #md5 = createHash('md5');
  #length = 0;

  get length(): number {
    return this.#length;
  }

  update(chunk: Buffer): void {
    this.#sha256.update(chunk);
    this.#md5.update(chunk);
    this.#length += chunk.length;
  }

  digest(): BlobInfo {
    return { digest: this.#sha256.digest('hex'), md5: this.#md5.digest(), length: this.#length };
  }
}
