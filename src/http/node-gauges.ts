import { Gauge, type Registry } from 'prom-client';
import type { DatabaseRegistry } from '../node/database-registry.js';

/** The kinds of work that are always shown, so that a board has them also when there is none. */
const taskTypes = ['indexer', 'database_compaction', 'replication'];

/** Figures of the node as a whole, read when somebody asks for them. */
export function nodeGauges(register: Registry, node: () => DatabaseRegistry): void {
  const registers = [register];
  new Gauge({
    name: 'tuffet_volume_file_bytes',
    help: 'bytes that a volume takes on disk',
    labelNames: ['volume'],
    registers,
    collect() {
      for (const { slot, store } of node().volumes())
        this.set({ volume: String(slot) }, store.size().file_bytes);
    },
  });
  new Gauge({
    name: 'tuffet_volume_used_bytes',
    help: 'bytes of a volume that are in use',
    labelNames: ['volume'],
    registers,
    collect() {
      for (const { slot, store } of node().volumes())
        this.set({ volume: String(slot) }, store.size().used_bytes);
    },
  });
  new Gauge({
    name: 'tuffet_active_tasks',
    help: 'work in the background, by its type',
    labelNames: ['type'],
    registers,
    collect() {
      this.reset();
      for (const type of taskTypes) this.set({ type }, 0);
      for (const task of node().tasks.list()) this.inc({ type: (task as { type: string }).type });
    },
  });
  new Gauge({
    name: 'tuffet_heap_used_bytes',
    help: 'bytes of the JavaScript heap that are in use',
    registers,
    collect() {
      this.set(process.memoryUsage().heapUsed);
    },
  });
  let before = performance.eventLoopUtilization();
  new Gauge({
    name: 'tuffet_event_loop_utilization',
    help: 'share of the time since the last look in which the serving thread was busy',
    registers,
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, before).utilization);
      before = now;
    },
  });
}
