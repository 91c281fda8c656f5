import type { Runtime } from '../base/runtime.js';
/** A piece of work in the background, as `/_active_tasks` shows it. */
export interface Task {
  type: string;
  pid: string;
  database: string;
  node: string;
  status: string;
  task: string;
  changes_done: number;
  total_changes: number;
  progress: number;
  started_on: number;
  updated_on: number;
  /** For the filling of indexes. */
  design_document?: string;
  /** For search indexes: their names. */
  index?: string;
}

/** What this node is busy with. */
export class TaskList {
  readonly #tasks = new Set<Task>();
  readonly #others = new Set<() => object>();
  #numbers = 0;

  constructor(private readonly runtime: Runtime) {}

  list(): object[] {
    return [...this.#tasks, ...[...this.#others].map((describe) => describe())];
  }

  /** Shows a task that tells of itself. Gives the function that ends it. */
  show(describe: () => object): () => void {
    this.#others.add(describe);
    return () => void this.#others.delete(describe);
  }

  nextPid(): string {
    return `<0.${++this.#numbers}.0>`;
  }

  begin(
    type: string,
    database: string,
    node: string,
    total: number,
    more: Pick<Task, 'design_document' | 'index'> = {},
  ): RunningTask {
    const now = this.runtime.nowSeconds();
    const task: Task = {
      type,
      pid: this.nextPid(),
      database,
      node,
      status: 'running',
      task: type,
      changes_done: 0,
      total_changes: total,
      progress: 0,
      started_on: now,
      updated_on: now,
      ...more,
    };
    this.#tasks.add(task);
    const progress = (done: number, of: number): void => {
      task.changes_done = done;
      task.total_changes = of;
      task.progress = of === 0 ? 100 : Math.min(100, Math.floor((done / of) * 100));
      task.updated_on = this.runtime.nowSeconds();
    };
    return {
      advance: (by) => progress(task.changes_done + by, total),
      progress,
      end: () => this.#tasks.delete(task),
    };
  }
}

export interface RunningTask {
  advance(by: number): void;
  /** What is done by now, and of how much. */
  progress(done: number, total: number): void;
  end(): void;
}
