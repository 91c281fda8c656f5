/** Other processes that read the stores of this one. */
export interface OtherReaders {
  /** Resolves when none of them uses a folder any more. They go on with `next`, where that has the same records. */
  release(folder: string, next?: string): Promise<void>;
  /** They may use it again. */
  reopened(folder: string): void;
  /** A store is in another folder from now on, to which nothing was written yet. */
  moved(): void;
  /** Resolves when none of them reads a group any more, whose records are to be removed. */
  ended(group: number): Promise<void>;
}
