import { badRequest } from '../base/errors.js';
import type { Runtime } from '../base/runtime.js';
import { sortInSlices } from '../base/sort-in-slices.js';
import type { IndexedDoc } from '../search/postings.js';
import { compareOrders, type OrderValue, type Sorting } from './sorting.js';
import type { TopHits } from './top-hits.js';
import { type Hit } from './top-hits.js';

/** Different values of the field that hits are grouped by. */
const groupsMax = 10_000;
/** What these take together. */
const groupBytesMax = 16 * 1024 * 1024;
/** What the hits of all groups are ordered by: each group has as many hits as the answer may show of it. */
const orderValuesMax = 2_000_000;
/** Groups that are sorted at a stretch: there may be a hundred values to compare. */
const sortedAtOnce = 512;

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
  #bytes = 0;
  #orderValues = 0;

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
      this.#count(by, groupOrder);
      this.#groups.set(by, (group = { by, count: 0, best: groupOrder, top: this.newTop() }));
    }
    group.count++;
    const kept = group.top.hits.length;
    group.top.add(hit);
    if (group.top.hits.length > kept) this.#keep(hit.order.length);
    if (compareOrders(groupOrder, group.best, sort) < 0) group.best = groupOrder;
  }

  #count(by: Group['by'], order: readonly OrderValue[]): void {
    const field = this.options.field.slice(0, 100);
    if (this.#groups.size >= groupsMax)
      throw badRequest(`The field ${field} has more than ${groupsMax} different values.`);
    if (typeof by === 'string') this.#bytes += by.length;
    if (this.#bytes > groupBytesMax)
      throw badRequest(`The different values of the field ${field} take more than 16 MB.`);
    this.#keep(order.length);
  }

  #keep(values: number): void {
    this.#orderValues += values;
    if (this.#orderValues > orderValuesMax)
      throw badRequest(
        `The groups have more than ${orderValuesMax} values to sort by. Ask for fewer by \`limit\`, or sort by fewer fields.`,
      );
  }

  /** The first groups, in their order. */
  async first(
    runtime: Runtime,
  ): Promise<{ by: string | number | null; count: number; hits: readonly Hit[] }[]> {
    const byOrder = (a: Group, b: Group): number => compareOrders(a.best, b.best, this.options.sort);
    return (await sortInSlices([...this.#groups.values()], byOrder, runtime, sortedAtOnce))
      .slice(0, this.options.limit)
      .map(({ by, count, top }) => ({ by, count, hits: top.hits }));
  }
}
