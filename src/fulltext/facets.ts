import { badRequest } from '../base/errors.js';
import type { IndexedDoc } from '../search/postings.js';
import type { NumberRange, SearchRequest } from './search-request.js';

/** Different texts that are counted for one search. */
const countedMax = 100_000;

/** Counts what the documents that match have in their fields. */
export class Facets {
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #ranges = new Map<string, { name: string; range: NumberRange; count: number }[]>();
  #counted = 0;

  constructor({ counts, ranges }: Pick<SearchRequest, 'counts' | 'ranges'>) {
    for (const field of counts ?? []) this.#counts.set(field, new Map());
    for (const [field, named] of Object.entries(ranges ?? {}))
      this.#ranges.set(
        field,
        Object.entries(named).map(([name, range]) => ({ name, range, count: 0 })),
      );
  }

  add({ values: { f, v } }: IndexedDoc): void {
    for (const [field, counts] of this.#counts)
      for (const text of new Set(own(f, field) ?? [])) {
        if (!counts.has(text) && ++this.#counted > countedMax)
          throw badRequest(`The fields to be counted have more than ${countedMax} different values.`);
        counts.set(text, (counts.get(text) ?? 0) + 1);
      }
    for (const [field, ranges] of this.#ranges) {
      const numbers = own(v, field);
      if (!Array.isArray(numbers)) continue;
      for (const each of ranges) if (numbers.some((number) => isWithin(number, each.range))) each.count++;
    }
  }

  counts(): Record<string, Record<string, number>> {
    return Object.fromEntries(
      [...this.#counts].map(([field, counts]) => [field, Object.fromEntries([...counts].sort(byName))]),
    );
  }

  ranges(): Record<string, Record<string, number>> {
    return Object.fromEntries(
      [...this.#ranges].map(([field, ranges]) => [
        field,
        Object.fromEntries(ranges.map(({ name, count }) => [name, count])),
      ]),
    );
  }
}

const byName = ([a]: [string, number], [b]: [string, number]): number => (a < b ? -1 : a > b ? 1 : 0);

function isWithin(number: number, { low, high, includesLow, includesHigh }: NumberRange): boolean {
  return (includesLow ? number >= low : number > low) && (includesHigh ? number <= high : number < high);
}

/** Whether a document has, in every field that is drilled down by, one of the texts. */
export function isDrilledTo({ values: { f } }: IndexedDoc, drilldown: SearchRequest['drilldown']): boolean {
  return drilldown.every(({ field, texts }) => own(f, field)?.some((text) => texts.has(text)) ?? false);
}

const own = <T>(object: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
