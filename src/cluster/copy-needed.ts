import { CopyNeeded, StreamReplaced } from '../log/stream.js';
import type { Followed } from './status.js';
import type { StreamSources } from './stream-sources.js';

/** Why a node cannot go on without what others have, if so. */
export function copyNeeded(followed: Iterable<Pick<Followed, 'replica'>>): CopyNeeded | undefined {
  for (const { replica } of followed) if (replica.lost instanceof CopyNeeded) return replica.lost;
  return undefined;
}

/**
 * Throws where a node has to copy what others have before it can go on. That may wait for one whose history a stream goes on
 * from: others may have to copy what it has, and it may have to copy what they have, so it must be reached first.
 */
export async function checkCopyNeeded(
  followed: readonly Pick<Followed, 'replica'>[],
  sources: StreamSources,
  node: string,
  mayWait: boolean,
): Promise<void> {
  const needed = copyNeeded(followed);
  if (needed === undefined) return;
  // One that is only behind is not waited for.
  const isReplaced = followed.some(({ replica }) => replica.lost instanceof StreamReplaced);
  if (!mayWait || !isReplaced || !(await isSource(sources, node))) throw needed;
}

async function isSource(sources: StreamSources, node: string): Promise<boolean> {
  const infos = await sources.infos();
  return [...infos.values()].some(({ recovered }) => recovered?.node === node);
}
