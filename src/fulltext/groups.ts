import { badRequest } from '../base/errors.js';
import type { IndexedDoc } from '../search/postings.js';
import { compareOrders, type OrderValue, type Sorting } from './sorting.js';
import type { TopHits } from './top-hits.js';
import { type Hit } from './top-hits.js';

/** Different values of the field that hits are grouped by. */
const groupsMax = 10_000;

interface Group {
  by: string | number | null;
  count: number;
  /** The order of its first hit among groups. */
  best: readonly OrderValue[];
  top: TopHits;
}

/** Hits by the value that they have in a field. */
export class Groups {
  readonly #groups = new Map<string | number | null, Group>();

  constructor(
    private readonly options: { field: string; limit: number; sort: readonly Sorting[] },
    private readonly newTop: () => TopHits,
  ) {}

  add(hit: Hit, groupOrder: readonly OrderValue[], { values: { f, v } }: IndexedDoc): void {
    const { field, sort } = this.options;
    const texts = f !== undefined && Object.hasOwn(f, field) ? f[field] : undefined;
    const value = v !== undefined && Object.hasOwn(v, field) ? v[field] : undefined;
    const by = texts?.[0] ?? (Array.isArray(value) ? (value[0] ?? null) : (value ?? null));
    let group = this.#groups.get(by);
    if (group === undefined) {
      if (this.#groups.size >= groupsMax)
        throw badRequest(`The field ${field.slice(0, 100)} has more than ${groupsMax} different values.`);
      this.#groups.set(by, (group = { by, count: 0, best: groupOrder, top: this.newTop() }));
    }
    group.count++;
    group.top.add(hit);
    if (compareOrders(groupOrder, group.best, sort) < 0) group.best = groupOrder;
  }

  /** The first groups, in their order. */
  first(): { by: string | number | null; count: number; hits: readonly Hit[] }[] {
    return [...this.#groups.values()]
      .sort((a, b) => compareOrders(a.best, b.best, this.options.sort))
      .slice(0, this.options.limit)
      .map(({ by, count, top }) => ({ by, count, hits: top.hits }));
  }
}
