import os from 'node:os';

/** Bytes that the process may use: less than the machine has where it runs in a container. */
export function machineMemory(): number {
  return Math.min(os.totalmem(), process.constrainedMemory() || Infinity);
}
