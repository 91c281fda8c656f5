import { compareOrders, type OrderValue, type OrderRule } from './sorting.js';

export interface Hit {
  doc: number;
  /** What it is ordered by, and the document's number, which decides where all else is equal. */
  order: readonly OrderValue[];
}

/** The first hits of those that are added, in their order. */
export class TopHits<H extends Hit = Hit> {
  readonly hits: H[] = [];

  constructor(
    private readonly limit: number,
    private readonly sort: readonly OrderRule[],
    /** Only hits behind this one count. */
    private readonly after?: readonly OrderValue[],
  ) {}

  /** What the first value of a hit's order has to reach, if it is a number that sorts descending. */
  get bar(): number {
    const { hits, limit } = this;
    if (limit === 0) return Infinity;
    if (hits.length < limit) return -Infinity;
    return hits[limit - 1]!.order[0] as number;
  }

  add(hit: H): void {
    const { hits, limit, sort, after } = this;
    const last = hits.at(-1);
    if (limit === 0 || (hits.length === limit && compareOrders(hit.order, last!.order, sort) > 0)) return;
    if (after !== undefined && compareOrders(hit.order, after, sort) <= 0) return;
    let low = 0;
    for (let high = hits.length; low < high;) {
      const middle = (low + high) >> 1;
      if (compareOrders(hits[middle]!.order, hit.order, sort) < 0) low = middle + 1;
      else high = middle;
    }
    hits.splice(low, 0, hit);
    if (hits.length > limit) hits.pop();
  }
}
