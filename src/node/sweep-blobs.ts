import type { BlobStore } from '../blobs/blob-store.js';
import type { Volume } from '../shard/volume.js';

/** Whose documents name blobs. */
export interface BlobOwner {
  readonly blobs: BlobStore;
  readonly isClosing: boolean;
  volumes(): Volume[];
  /** Whether some kept revision names the blob. */
  needsBlob(blob: string): boolean;
}

/**
 * Removes blobs that no kept revision names any more: those that commits have put on the list of released ones, and,
 * at a start, those that a crash has left without any document.
 */
export async function sweepReleased(owner: BlobOwner): Promise<void> {
  for (const volume of owner.volumes()) {
    const released = volume.releasedBlobs(sweepBlobsMax);
    if (released.length === 0) continue;
    for (let at = 0; at < released.length; at += sweptAtOnce) {
      await Promise.all(released.slice(at, at + sweptAtOnce).map((blob) => sweepOne(owner, volume, blob)));
    }
  }
}

/**
 * The mark goes before the bytes: bytes that come and go again meanwhile are marked again, and found by the next sweep.
 * Whether they are needed, in this volume or another, is looked at last of all.
 */
async function sweepOne(owner: BlobOwner, volume: Volume, blob: string): Promise<void> {
  if (owner.needsBlob(blob) || !(await volume.journal.record({ type: 'forget_released', blob }))) return;
  const left = owner.needsBlob(blob) ? [] : await owner.blobs.remove([blob]);
  if (left.length > 0) await volume.journal.record({ type: 'mark_released', blob });
}

/**
 * Removes blobs that were stored for documents which then were not saved. Never fails: the documents may be stored, and
 * what is left over here is removed at the next start.
 */
export async function discardUnneeded(owner: BlobOwner, blobs: Iterable<string>): Promise<void> {
  for (const blob of blobs) await discard(owner, blob).catch(() => undefined);
}

async function discard(owner: BlobOwner, blob: string): Promise<void> {
  if (owner.needsBlob(blob)) return;
  const left = await owner.blobs.remove([blob]);
  // Another request is about to name it, or is reading it: the next sweep will look again.
  if (left.length > 0) await owner.volumes()[0]?.journal.record({ type: 'mark_released', blob });
}

export async function sweepOrphans(owner: BlobOwner): Promise<number> {
  let removed = 0;
  for await (const blob of owner.blobs.list()) {
    if (owner.isClosing) break;
    if (owner.needsBlob(blob)) continue;
    removed += 1 - (await owner.blobs.remove([blob])).length;
  }
  return removed;
}

/** Blobs worked on side by side, so that they share commits. */
const sweptAtOnce = 64;

/** Blobs removed in one sweep; the rest wait for the next. */
const sweepBlobsMax = 10_000;
