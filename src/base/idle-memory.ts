/**
 * V8 looks for garbage when objects are made, and gives room for new ones back only while few are made. A thread that has done
 * its work and waits makes none, so it keeps what it had at its busiest: the one that fills indexes more than 100 MB. Here the
 * collections are asked for when a thread has been idle for some seconds.
 */
import v8 from 'node:v8';
import vm from 'node:vm';
import type { Runtime, Timer } from './runtime.js';

/** How often is looked whether the thread is idle. */
const checkMs = 2_000;
/** How often in a row it has to be. */
const idleChecks = 1;
/**
 * Then the room for new objects is empty, and is given back by a collection that finds that few objects were made since the one
 * before, and that this was 5 s ago.
 */
const roomChecks = idleChecks + 3;
/** The share of its time that an idle thread may still use, for timers. */
const idleShareMax = 0.02;
/** Less than this is not worth a collection. */
const worthwhileBytes = 8 * 1024 * 1024;
/** A larger heap is left to V8: the next request would wait for more than a few dozen milliseconds. */
const heapBytesMax = 64 * 1024 * 1024;

/** Everything is collected only where it is called without an argument. */
type Collect = (isMinor?: true) => void;

/** Gives the garbage of this thread back to the system whenever it has grown and the thread is idle. */
export function collectWhenIdle(runtime: Runtime): Timer {
  let last = performance.eventLoopUtilization();
  let idle = 0;
  let left = heapBytes();
  return runtime.setIdleRepeating(() => {
    const now = performance.eventLoopUtilization();
    const share = performance.eventLoopUtilization(now, last).utilization;
    last = now;
    idle = share <= idleShareMax ? idle + 1 : 0;
    // Freed pages are given back some time after a collection.
    left = Math.min(left, heapBytes());
    if (idle === idleChecks && heapBytes() >= left + worthwhileBytes) {
      // First, so that the rest of the heap is judged without what is new and garbage already.
      collect('minor');
      if (v8.getHeapStatistics().used_heap_size <= heapBytesMax) collect('major');
      left = heapBytes();
    }
    if (idle !== roomChecks || roomBytes() < worthwhileBytes) return;
    collect('minor');
    left = heapBytes();
  }, checkMs);
}

/** The memory of sandboxes and buffers is as large as the objects are small that stand for it. */
function heapBytes(): number {
  const { total_physical_size, external_memory } = v8.getHeapStatistics();
  return total_physical_size + external_memory;
}

/** The room for new objects. */
function roomBytes(): number {
  const spaces = v8.getHeapSpaceStatistics();
  return spaces.find(({ space_name: name }) => name === 'new_space')!.physical_space_size;
}

function collect(kind: 'minor' | 'major'): void {
  const run = (globalThis.gc as Collect | undefined) ?? exposed();
  if (kind === 'minor') run?.(true);
  else run?.();
}

/** Undefined when another thread has taken the flag back, which is the process's, in between. */
function exposed(): Collect | undefined {
  v8.setFlagsFromString('--expose-gc');
  try {
    return vm.runInNewContext('globalThis.gc') as Collect | undefined;
  } finally {
    v8.setFlagsFromString('--no-expose-gc');
  }
}
