import { toBytes, type Bytes } from '../base/bytes.js';
import { badRequest } from '../base/errors.js';
import type { Runtime } from '../base/runtime.js';
import { sortInSlices } from '../base/sort-in-slices.js';
import type { IndexedDoc } from '../search/postings.js';
import type { NumberRange, SearchRequest } from './search-request.js';

/** Different texts that are counted for one search. */
const countedMax = 100_000;
/** What they take together: all of them are kept, and written in the answer. */
const countedBytesMax = 16 * 1024 * 1024;
/** Texts that are sorted at a stretch: they may be long, and begin alike. */
const sortedAtOnce = 512;

/** Counts what the documents that match have in their fields. */
export class Facets {
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #ranges = new Map<string, { name: string; range: NumberRange; count: number }[]>();
  #counted = 0;
  #bytes = 0;

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
        const count = counts.get(text);
        if (count === undefined) this.#countText(text);
        counts.set(text, (count ?? 0) + 1);
      }
    for (const [field, ranges] of this.#ranges) {
      const numbers = own(v, field);
      if (!Array.isArray(numbers)) continue;
      const inOrder = Float64Array.from(numbers).sort();
      for (const each of ranges) if (hasWithin(inOrder, each.range)) each.count++;
    }
  }

  #countText({ length }: string): void {
    if (++this.#counted > countedMax)
      throw badRequest(`The fields to be counted have more than ${countedMax} different values.`);
    this.#bytes += length;
    if (this.#bytes > countedBytesMax)
      throw badRequest('The different values of the fields to be counted take more than 16 MB.');
  }

  /** What was counted as JSON: of each field all texts, by name. */
  async counts(runtime: Runtime): Promise<Bytes> {
    return await facetsText(
      [...this.#counts].map(([field, counts]) => [
        field,
        () => sortInSlices([...counts], byName, runtime, sortedAtOnce),
      ]),
      runtime,
    );
  }

  /** The same of the most frequent texts. */
  async topCounts(most: number, runtime: Runtime): Promise<Bytes> {
    return await facetsText(
      [...this.#counts].map(([field, counts]) => [field, () => topOf([...counts], most, runtime)]),
      runtime,
    );
  }

  async ranges(runtime: Runtime): Promise<Bytes> {
    return await facetsText(
      [...this.#ranges].map(([field, ranges]) => [field, () => ranges.map(counted)]),
      runtime,
    );
  }

  /** Those in which something was found. */
  async topRanges(most: number, runtime: Runtime): Promise<Bytes> {
    return await facetsText(
      [...this.#ranges].map(([field, ranges]) => [
        field,
        () =>
          topOf(
            ranges.map(counted).filter(([, count]) => count > 0),
            most,
            runtime,
          ),
      ]),
      runtime,
    );
  }
}

type Counted = [name: string, count: number];

const counted = ({ name, count }: { name: string; count: number }): Counted => [name, count];
const byName = ([a]: Counted, [b]: Counted): number => (a < b ? -1 : a > b ? 1 : 0);
const byCount = (a: Counted, b: Counted): number => b[1] - a[1] || byName(a, b);

async function topOf(list: Counted[], most: number, runtime: Runtime): Promise<Counted[]> {
  return (await sortInSlices(list, byCount, runtime, sortedAtOnce)).slice(0, most);
}

/** Fields with what was counted in each, as JSON: there may be many texts, so others run meanwhile. */
async function facetsText(
  fields: readonly [string, () => Counted[] | Promise<Counted[]>][],
  runtime: Runtime,
): Promise<Bytes> {
  const slice = runtime.slice();
  const texts: string[] = [];
  for (const [field, countedOf] of fields) {
    const members: string[] = [];
    for (const [name, count] of await countedOf()) {
      members.push(`${JSON.stringify(name)}:${count}`);
      if (slice.isOver) await slice.next();
    }
    texts.push(`${JSON.stringify(field)}:{${members.join(',')}}`);
  }
  return toBytes(`{${texts.join(',')}}`);
}

/** Whether one of the numbers, which are in order, lies in a range. */
function hasWithin(numbers: Float64Array, { low, high, includesLow, includesHigh }: NumberRange): boolean {
  let first = 0;
  for (let end = numbers.length; first < end;) {
    const middle = (first + end) >> 1;
    const isBelow = includesLow ? numbers[middle]! < low : numbers[middle]! <= low;
    if (isBelow) first = middle + 1;
    else end = middle;
  }
  const number = numbers[first];
  return number !== undefined && (includesHigh ? number <= high : number < high);
}

/** Whether a document has, in every field that is drilled down by, one of the texts. */
export function isDrilledTo({ values: { f } }: IndexedDoc, drilldown: SearchRequest['drilldown']): boolean {
  return drilldown.every(({ field, texts }) => own(f, field)?.some((text) => texts.has(text)) ?? false);
}

const own = <T>(object: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
