import type { Cluster } from './cluster.js';

/**
 * Removes blobs that no kept revision names any more: those that commits have put on the list of released ones, and,
 * at a start, those that a crash has left without any document.
 */
export async function sweepReleased(cluster: Cluster): Promise<void> {
  for (const volume of cluster.volumes()) {
    const released = volume.releasedBlobs(sweepBlobsMax);
    if (released.length === 0) continue;
    const unneeded = released.filter((blob) => !cluster.needsBlob(blob));
    const left = new Set(await cluster.blobs.remove(unneeded));
    await volume.forgetReleased(released.filter((blob) => !left.has(blob)));
  }
}

export async function sweepOrphans(cluster: Cluster): Promise<number> {
  let removed = 0;
  for await (const blob of cluster.blobs.list()) {
    if (cluster.isClosing) break;
    if (cluster.needsBlob(blob)) continue;
    removed += 1 - (await cluster.blobs.remove([blob])).length;
  }
  return removed;
}

/** Blobs removed in one sweep; the rest wait for the next. */
const sweepBlobsMax = 10_000;
