import os from 'node:os';
import { machineMemory } from '../base/machine-memory.js';
import type { Config } from '../config/config.js';
import type { DataFolder } from '../node/data-folder.js';

/** What `auto` stands for at most. */
const automaticMax = 4;
/** Below this much memory, `auto` is one. */
const memoryBytesMin = 2 * 1024 ** 3;

/**
 * How many processes are to serve connections. One, where everything is kept in memory, where sockets have no paths, and in a
 * node of a cluster, which has to ask whether it is current before it reads.
 */
export function workersOf(config: Config, folder: DataFolder | undefined): number {
  if (folder === undefined || process.platform === 'win32' || config.text('cluster/nats') !== '') return 1;
  const wanted = config.text('tuffet/workers');
  if (wanted !== 'auto') return Number(wanted) || 1;
  return machineMemory() < memoryBytesMin ? 1 : Math.min(automaticMax, os.availableParallelism());
}
