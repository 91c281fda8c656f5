import type { ResourceLimits } from 'node:worker_threads';
import { machineMemory } from '../base/machine-memory.js';

/**
 * The thread's heap stays far below this. But V8 lets garbage grow by a factor before it looks for it that depends on this: from
 * 2 GB on to three times of what is in use, at 1 GB to about one and a half.
 */
const heapMegabytesMax = Math.min(1_000, Math.floor(machineMemory() / 2 ** 21));
/**
 * Room for new objects: while an index is built most of them are rows that are gone with the next flush. In less room (V8's own
 * choice is 48 MB) many are copied and kept first. An idle thread gives it back.
 */
const youngMegabytesMax = Math.max(48, Math.min(192, Math.floor(machineMemory() / 2 ** 25)));

/** What the thread that fills indexes may have for its objects. */
export const threadMemory: ResourceLimits = {
  maxOldGenerationSizeMb: heapMegabytesMax,
  maxYoungGenerationSizeMb: youngMegabytesMax,
};
