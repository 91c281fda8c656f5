import type { Bytes } from '../../base/bytes.js';
import type { StoredAttachment } from './store-attachment.js';

/** Blobs that documents about to be saved bring with them. */
export class NewBlobs {
  readonly small: Map<string, Bytes>;
  readonly stored: Set<string>;
  readonly #releases: (() => void)[] = [];

  /** With those that others release. */
  constructor(others?: NewBlobs) {
    this.small = new Map(others?.small);
    this.stored = new Set(others?.stored);
  }

  has(blob: string): boolean {
    return this.small.has(blob) || this.stored.has(blob);
  }

  add({ attachment, small, release }: StoredAttachment): void {
    if (small === undefined) return this.hold(attachment.blob, release);
    this.#releases.push(release);
    this.small.set(attachment.blob, small);
  }

  /** One that is a file already. */
  hold(blob: string, release: () => void): void {
    this.#releases.push(release);
    this.stored.add(blob);
  }

  release(): void {
    for (const release of this.#releases.splice(0)) release();
  }
}
