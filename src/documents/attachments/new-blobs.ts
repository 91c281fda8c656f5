import type { Bytes } from '../../base/bytes.js';
import type { StoredAttachment } from './store-attachment.js';

/** Blobs that documents about to be saved bring with them. */
export class NewBlobs {
  readonly small = new Map<string, Bytes>();
  readonly stored = new Set<string>();
  readonly #releases: (() => void)[] = [];

  add({ attachment, small, release }: StoredAttachment): void {
    this.#releases.push(release);
    if (small === undefined) this.stored.add(attachment.blob);
    else this.small.set(attachment.blob, small);
  }

  release(): void {
    for (const release of this.#releases.splice(0)) release();
  }
}
