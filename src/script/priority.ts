import os from 'node:os';

/** Leaves the processor to everything else while there is something else. There is no way back without privileges. */
export function lowerPriority(thread: number): void {
  try {
    if (thread > 0) os.setPriority(thread, os.constants.priority.PRIORITY_LOW);
  } catch {
    // The work is done all the same.
  }
}
