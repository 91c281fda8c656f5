import type { StoreSize } from './store.js';

/** A store is replaced by a compact copy when it could give back this much at least. */
const reclaimBytesMin = 8 * 1024 * 1024;

/** Whether a copy is worth its cost: that share of the file, in percent, is free. */
export function isWorthCopying({ file_bytes, used_bytes }: StoreSize, percent: number): boolean {
  const free = file_bytes - used_bytes;
  return free >= reclaimBytesMin && free * 100 >= percent * file_bytes;
}
