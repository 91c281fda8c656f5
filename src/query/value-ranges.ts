/**
 * What a selector says of the values of some fields, as far as ranges can say it. The ranges leave out no document that
 * matches; they may hold others, so the selector is still evaluated on what they contain.
 */
import { compareJson } from '../json/collation.js';
import type { ConditionOperator, SelectorNode } from '../selectors/node.js';

export interface ValueBound {
  readonly value: unknown;
  readonly inclusive: boolean;
  /** Of an upper bound: all texts that begin so are below it, whatever follows. */
  readonly beginning?: string;
}

/** Values between bounds; one that is absent is open. */
export interface ValueRange {
  readonly low?: ValueBound | undefined;
  readonly high?: ValueBound | undefined;
}

/** One way to match: all these fields have values in these ranges. */
export type Alternative = ReadonlyMap<string, ValueRange>;

export type Compare = (a: unknown, b: unknown) => number;

/** Beyond this number a part of the selector restricts nothing. */
const alternativesMax = 10_000;
/** Pairs that are looked at for one selector, for each alternative that it may have; beyond it the rest restricts nothing. */
const pairsEach = 2;

const anything: Alternative = new Map();

export class RangeReader {
  #pairs = 0;

  constructor(
    private readonly fields: ReadonlySet<string>,
    /** The order in which the values of a field stand; undefined where only equality can be told. */
    private readonly orderOf: (field: string) => Compare | undefined,
    private readonly most = alternativesMax,
  ) {}

  /** The ways in which a document may match; none where no document can. */
  alternatives(node: SelectorNode): readonly Alternative[] {
    switch (node.kind) {
      case 'and':
        return node.args.reduce<readonly Alternative[]>(
          (all, arg) => this.#both(all, this.alternatives(arg)),
          [anything],
        );
      case 'or': {
        const all: Alternative[] = [];
        for (const arg of node.args) {
          for (const each of this.alternatives(arg)) all.push(each);
          if (all.length > this.most) return [anything];
        }
        return node.args.length === 0 ? [anything] : all;
      }
      case 'field':
        return this.#field(node.field, node.condition);
      case 'everything':
      case 'nor':
      case 'not':
      case 'parts':
      case 'condition':
      case 'text':
        return [anything];
    }
  }

  #field(field: string, condition: SelectorNode): readonly Alternative[] {
    if (!this.fields.has(field) || condition.kind !== 'condition') return [anything];
    const order = this.orderOf(field);
    const ranges = rangesOf(condition.operator, condition.value, order, field === '_id');
    return ranges === undefined ? [anything] : ranges.map((range) => new Map([[field, range]]));
  }

  #both(all: readonly Alternative[], others: readonly Alternative[]): readonly Alternative[] {
    const pairs = all.length * others.length;
    if (others.length === 1 && others[0]!.size === 0) return all;
    if (pairs > this.most || (this.#pairs += pairs) > this.most * pairsEach)
      return all.length <= others.length ? all : others;
    return all.flatMap((one) =>
      others.flatMap((other) => {
        const joined = this.#joined(one, other);
        return joined === undefined ? [] : [joined];
      }),
    );
  }

  #joined(one: Alternative, other: Alternative): Alternative | undefined {
    if (one.size === 0) return other;
    const joined = new Map(one);
    for (const [field, range] of other) {
      const narrowed = intersection(joined.get(field) ?? {}, range, this.orderOf(field) ?? compareJson);
      if (narrowed === undefined) return undefined;
      joined.set(field, narrowed);
    }
    return joined;
  }
}

/** Arrays stand between texts and objects. */
const arrays: ValueRange = { low: { value: [], inclusive: true }, high: { value: {}, inclusive: false } };

/** Stands behind all other characters in the collation. */
const lastCharacter = '\uffff';
/** The same in the order of bytes, as far as any id goes. */
const lastCodePoints = '\u{10ffff}\u{10ffff}';

/** Undefined where the condition can't be said in ranges. */
function rangesOf(
  operator: ConditionOperator,
  value: unknown,
  order: Compare | undefined,
  isId: boolean,
): readonly ValueRange[] | undefined {
  if (operator === '$eq') return [point(value)];
  if (operator === '$in') {
    const choices = value as unknown[];
    if (choices.length > alternativesMax) return undefined;
    // An array that holds one of the choices matches, too; ids are never arrays.
    return [...choices.map(point), ...(isId ? [] : [arrays])];
  }
  if (order === undefined) return undefined;
  switch (operator) {
    case '$lt':
    case '$lte':
      return [{ high: { value, inclusive: operator === '$lte' } }];
    case '$gt':
    case '$gte':
      return [{ low: { value, inclusive: operator === '$gte' } }];
    case '$beginsWith': {
      const beginning = value as string;
      const last = isId ? lastCodePoints : lastCharacter;
      return [
        { low: { value, inclusive: true }, high: { value: beginning + last, inclusive: true, beginning } },
      ];
    }
    case '$ne':
    case '$nin':
    case '$all':
    case '$exists':
    case '$type':
    case '$mod':
    case '$regex':
    case '$size':
      return undefined;
  }
}

function point(value: unknown): ValueRange {
  const bound = { value, inclusive: true };
  return { low: bound, high: bound };
}

/** Whether the range holds one value alone. */
export const isPoint = ({ low, high }: ValueRange): boolean => low !== undefined && low === high;

function intersection(a: ValueRange, b: ValueRange, order: Compare): ValueRange | undefined {
  const low = tighter(a.low, b.low, (one, other) => order(one, other) > 0);
  const high = tighter(a.high, b.high, (one, other) => order(one, other) < 0);
  if (low === undefined || high === undefined) return { low, high };
  const gap = order(low.value, high.value);
  if (gap > 0 || (gap === 0 && !(low.inclusive && high.inclusive))) return undefined;
  return gap === 0 ? { low, high: low } : { low, high };
}

function tighter(
  a: ValueBound | undefined,
  b: ValueBound | undefined,
  isTighter: (one: unknown, other: unknown) => boolean,
): ValueBound | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (isTighter(a.value, b.value)) return a;
  if (isTighter(b.value, a.value)) return b;
  return a.inclusive ? b : a;
}
