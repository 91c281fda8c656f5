import type { OnProgress } from './index-job.js';

/** An update that is shown while it runs. */
export interface ShownUpdate {
  progress: OnProgress;
  end: () => void;
}

/** Shows an update of that many changes. */
export type OnUpdate = (total: number) => ShownUpdate;

interface Shared {
  shown: ShownUpdate;
  /** Groups whose indexes are being updated. */
  groups: number;
  done: number;
  total: number;
}

/**
 * The updates that are shown. The groups of a database update their indexes separately, but the indexes of a design
 * document are shown once: from the first group that begins to the last that ends.
 */
export class UpdateTasks {
  readonly #tasks = new Map<string, Shared>();

  /** Begins the update of one group. Groups with the same key are shown together. */
  begin(key: string, total: number, onUpdate: OnUpdate): ShownUpdate {
    const task = this.#tasks.get(key) ?? { shown: onUpdate(total), groups: 0, done: 0, total: 0 };
    this.#tasks.set(key, task);
    task.groups++;
    task.total += total;
    let counted = 0;
    return {
      progress: (done) => {
        task.done += done - counted;
        counted = done;
        task.shown.progress(task.done, task.total);
      },
      end: () => {
        if (--task.groups > 0) return;
        this.#tasks.delete(key);
        task.shown.end();
      },
    };
  }
}
