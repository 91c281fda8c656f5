import { toBytes, type Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { compareJson } from '../json/collation.js';
import { fieldReader, type FieldReader } from '../selectors/field-path.js';
import type { Aggregate, AggregateValue } from './aggregate-request.js';
import type { Collector } from './cursor.js';
import type { Match } from './matching.js';

/** Groups are kept in memory until the last document has been seen. */
const groupsMax = 10_000;
const groupKeysBytesMax = 16 * 1024 * 1024;

/** What is known so far of one value in one group. */
interface Tally {
  /** Values that were taken into account. */
  count: number;
  sum: number;
  least: unknown;
  greatest: unknown;
}

interface Group {
  /** The values of the fields to group by; undefined for those that the documents lack. */
  key: readonly unknown[];
  tallies: Tally[];
}

/** Reckons with documents in place of showing them, group by group. */
export class GroupCollector implements Collector {
  readonly isFull = false;
  readonly isHeavy = false;
  matched = 0;
  readonly #groups = new Map<string, Group>();
  readonly #keyReaders: readonly FieldReader[];
  readonly #valueReaders: readonly (FieldReader | undefined)[];
  #keyBytes = 0;

  constructor(private readonly aggregate: Aggregate) {
    this.#keyReaders = aggregate.groupBy.map(fieldReader);
    this.#valueReaders = aggregate.values.map(({ field }) =>
      field === undefined ? undefined : fieldReader(field),
    );
    // Without groups there is one, also where nothing matches.
    if (aggregate.groupBy.length === 0) this.#group([]);
  }

  take(match: Match): void {
    this.matched++;
    const doc = match.parsed();
    const { tallies } = this.#group(this.#keyReaders.map((read) => read(doc)));
    for (const [at, read] of this.#valueReaders.entries()) {
      if (read === undefined) tallies[at]!.count++;
      else add(tallies[at]!, this.aggregate.values[at]!, read(doc));
    }
  }

  #group(key: readonly unknown[]): Group {
    // What a document lacks is told apart from null.
    const text = key.map((value) => JSON.stringify(value) ?? '').join();
    const known = this.#groups.get(text);
    if (known !== undefined) return known;
    this.#keyBytes += text.length;
    if (this.#groups.size >= groupsMax || this.#keyBytes > groupKeysBytesMax)
      throw new RequestError('invalid_aggregate', `The documents make more than ${groupsMax} groups.`);
    const tallies = this.aggregate.values.map(() => ({
      count: 0,
      sum: 0,
      least: undefined,
      greatest: undefined,
    }));
    const group = { key, tallies };
    this.#groups.set(text, group);
    return group;
  }

  /** The groups in the order of their keys, as a JSON list. */
  text(): Bytes {
    const groups = [...this.#groups.values()].sort((a, b) => compareKeys(a.key, b.key));
    return toBytes(`[${groups.map((group) => this.#groupText(group)).join(',\n')}]`);
  }

  #groupText({ key, tallies }: Group): string {
    const { groupBy, values } = this.aggregate;
    const members = [
      ...groupBy.flatMap((field, at) => (key[at] === undefined ? [] : [member(field, key[at])])),
      ...values.map(({ name, operator }, at) => member(name, resultOf(operator, tallies[at]!))),
    ];
    return `{${members.join(',')}}`;
  }
}

const member = (name: string, value: unknown): string => `${JSON.stringify(name)}:${JSON.stringify(value)}`;

/** What lacks a field comes first. */
function compareKeys(a: readonly unknown[], b: readonly unknown[]): number {
  for (const [at, value] of a.entries()) {
    const other = b[at];
    const order =
      value === undefined || other === undefined
        ? Number(value !== undefined) - Number(other !== undefined)
        : compareJson(value, other);
    if (order !== 0) return order;
  }
  return 0;
}

/** Sums and means are of numbers; other values are passed over. The least and the greatest are of all values. */
function add(tally: Tally, { operator }: AggregateValue, value: unknown): void {
  if (value === undefined) return;
  if ((operator === '$sum' || operator === '$avg') && typeof value !== 'number') return;
  tally.count++;
  if (typeof value === 'number') tally.sum += value;
  if (operator === '$min' && (tally.least === undefined || compareJson(value, tally.least) < 0))
    tally.least = value;
  if (operator === '$max' && (tally.greatest === undefined || compareJson(value, tally.greatest) > 0))
    tally.greatest = value;
}

function resultOf(operator: AggregateValue['operator'], { count, sum, least, greatest }: Tally): unknown {
  switch (operator) {
    case '$count':
      return count;
    case '$sum':
      return sum;
    case '$avg':
      return count === 0 ? null : sum / count;
    case '$min':
      return least ?? null;
    case '$max':
      return greatest ?? null;
  }
}
