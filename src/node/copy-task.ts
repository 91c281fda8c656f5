import fs from 'node:fs';
import path from 'node:path';
import type { Runtime } from '../base/runtime.js';
import type { TaskList } from './task-list.js';

/** How the copying of a volume is shown in `/_active_tasks`: what is copied so far is read from the size of the copy's file. */
export function copyTask(
  { tasks, nodeName, runtime }: { tasks: TaskList; nodeName: string; runtime: Runtime },
  what: { volume: number },
  folders: readonly string[],
  total: number,
): () => object {
  const pid = tasks.nextPid();
  const started = runtime.nowSeconds();
  return () => {
    const done = Math.min(total, Math.max(0, ...folders.map(bytesIn)));
    return {
      type: 'volume_compaction',
      pid,
      node: nodeName,
      ...what,
      status: 'running',
      changes_done: done,
      total_changes: total,
      progress: total === 0 ? 100 : Math.floor((done / total) * 100),
      started_on: started,
      updated_on: runtime.nowSeconds(),
    };
  };
}

const bytesIn = (folder: string): number =>
  fs.statSync(path.join(folder, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0;
