import type { DesignViews, ViewDefinition } from './definition.js';
import type { Position } from './index-state.js';
import { MergedViewReader } from './merged-view-reader.js';
import type { QueryReduce } from './reduce/query-reduce.js';
import type { ViewReader } from './view-reader.js';
import type { OnUpdate } from './update-tasks.js';
import { throwFirst, type Indexed, type Views } from './views.js';

/** The indexes of a database: each of its groups has its own. */
export class DatabaseIndexes {
  constructor(
    private readonly views: Views,
    private readonly groups: readonly Indexed[],
    /** Makes of what each group's index says of its shards what they say together; needed for several groups only. */
    private readonly joinPositions: (positions: readonly (readonly Position[])[]) => readonly Position[],
  ) {}

  /** What the index of a view has, which may be nothing yet. */
  reader(view: ViewDefinition): ViewReader | undefined {
    if (this.groups.length === 1) return this.views.reader(this.groups[0]!, view);
    const readers = this.groups.map((group) => this.views.reader(group, view));
    return readers.includes(undefined) ? undefined : this.#merged(readers as ViewReader[]);
  }

  /** The index of a view with all that is committed now. */
  freshReader(
    design: DesignViews,
    view: ViewDefinition,
    onUpdate: OnUpdate,
  ): ViewReader | Promise<ViewReader> {
    const { views, groups } = this;
    if (groups.length === 1) return views.freshReader(groups[0]!, design, view, onUpdate);
    const fresh = (group: Indexed): ViewReader | Promise<ViewReader> => {
      try {
        return views.freshReader(group, design, view, onUpdate);
      } catch (error) {
        return Promise.reject(error as Error);
      }
    };
    const readers = groups.map(fresh);
    return readers.some((reader) => reader instanceof Promise)
      ? this.#whenAll(readers, view)
      : this.#merged(readers as ViewReader[]);
  }

  /** Those that were found first may have been replaced by the time the last one is there. */
  async #whenAll(
    readers: readonly (ViewReader | Promise<ViewReader>)[],
    view: ViewDefinition,
  ): Promise<ViewReader> {
    const found = await Promise.all(readers.map((reader) => Promise.resolve(reader)));
    return this.reader(view) ?? this.#merged(found);
  }

  /** The same group by group, for indexes that cannot be read as one. */
  readers(view: ViewDefinition): (ViewReader | undefined)[] {
    return this.groups.map((group) => this.views.reader(group, view));
  }

  #merged(readers: readonly ViewReader[]): ViewReader {
    return new MergedViewReader(readers, this.joinPositions);
  }

  /** Whether all indexes of a design document have all that is committed now. */
  isFresh(design: DesignViews): boolean {
    return this.groups.every((group) => this.views.isFresh(group, design));
  }

  /** Brings the indexes of a design document up to date; throws why one could not be. */
  async update(design: DesignViews, onUpdate: OnUpdate): Promise<void> {
    const updates = this.groups.map((group) => this.views.update(group, design, onUpdate));
    for (const failures of await Promise.all(updates)) throwFirst(failures);
  }

  /** Starts an update in the background. */
  updateLater(design: DesignViews, onUpdate: OnUpdate): void {
    for (const group of this.groups) this.views.updateLater(group, design, onUpdate);
  }

  isUpdating(design: DesignViews): boolean {
    return this.groups.some((group) => this.views.isUpdating(group, design));
  }

  /** Requests that wait for an update. */
  waiting(design: DesignViews): number {
    return Math.max(...this.groups.map((group) => this.views.waiting(group, design)));
  }

  reduce(source: string): QueryReduce {
    return this.views.reduce(this.groups[0]!, source);
  }

  /** Removes the indexes of views that no design document has any more. */
  async keepOnly(designs: readonly DesignViews[]): Promise<void> {
    for (const { instance } of this.groups) await this.views.keepOnly(instance, designs);
  }
}
