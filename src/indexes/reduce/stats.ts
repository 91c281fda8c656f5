import { noBytes } from '../../base/bytes.js';
import {
  decodeFault,
  encodeFault,
  isFault,
  jsonBytes,
  parseValue,
  ReduceFault,
  type Fold,
  type ReduceRow,
} from './fold.js';

interface Stats {
  sum: number;
  count: number;
  min: number;
  max: number;
  sumsqr: number;
}

/** Nothing yet, the statistics of numbers, or of each place of arrays. */
type State = undefined | Stats | readonly Stats[] | ReduceFault;

/**
 * `_stats`: sum, count, smallest, largest and sum of squares of numbers, or of each place of arrays of them. It begins at the
 * last row, as CouchDB does: sums of fractions depend on the order.
 */
export const statsFold: Fold<State> = {
  rows(rows: readonly ReduceRow[]) {
    let total: State;
    for (let i = rows.length - 1; i >= 0; i--) {
      total = merge(total, statsOf(parseValue(rows[i]!.value)));
      if (total instanceof ReduceFault) return total;
    }
    return total;
  },
  merge(states) {
    let total: State;
    for (const state of states) {
      total = merge(total, state);
      if (total instanceof ReduceFault) return total;
    }
    return total;
  },
  encode: (state) =>
    state instanceof ReduceFault ? encodeFault(state) : state === undefined ? noBytes : jsonBytes(state),
  decode: (bytes) =>
    isFault(bytes) ? decodeFault(bytes) : bytes === '' ? undefined : (JSON.parse(bytes) as Stats | Stats[]),
  show: (state) => (state instanceof ReduceFault ? state : jsonBytes(state ?? null)),
};

function merge(left: State, right: State): State {
  if (left instanceof ReduceFault || right instanceof ReduceFault)
    return left instanceof ReduceFault ? left : right;
  if (left === undefined) return right;
  if (right === undefined) return left;
  if (isList(left) && isList(right)) {
    if (left.length !== right.length) return invalid('arrays of different lengths', right);
    return left.map((stats, i) => mergeOne(stats, right[i]!));
  }
  if (isList(left) || isList(right)) return invalid('numbers and arrays together', right);
  return mergeOne(left, right);
}

const mergeOne = (left: Stats, right: Stats): Stats => ({
  sum: left.sum + right.sum,
  count: left.count + right.count,
  min: Math.min(left.min, right.min),
  max: Math.max(left.max, right.max),
  sumsqr: left.sumsqr + right.sumsqr,
});

const isList = (state: Stats | readonly Stats[]): state is readonly Stats[] => Array.isArray(state);

function statsOf(value: unknown): State {
  if (!Array.isArray(value)) return statsOfOne(value);
  const list: Stats[] = [];
  for (const each of value) {
    const stats = statsOfOne(each);
    if (stats instanceof ReduceFault) return stats;
    list.push(stats);
  }
  return list;
}

function statsOfOne(value: unknown): Stats | ReduceFault {
  if (typeof value === 'number') return ofNumber(value);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return ready(value as Record<string, unknown>);
  return invalid('what is no number', value);
}

const ofNumber = (value: number): Stats => ({
  sum: value,
  count: 1,
  min: value,
  max: value,
  sumsqr: value * value,
});

const fields = ['sum', 'count', 'min', 'max', 'sumsqr'] as const;

/** Statistics that the map function has made already. */
function ready(value: Record<string, unknown>): Stats | ReduceFault {
  for (const field of fields) {
    if (!Object.hasOwn(value, field)) return invalid(`an object without \`${field}\``, value);
    if (typeof value[field] !== 'number') return invalid(`an object whose \`${field}\` is no number`, value);
  }
  const { sum, count, min, max, sumsqr } = value as unknown as Stats;
  return { sum, count, min, max, sumsqr };
}

const invalid = (what: string, value: unknown): ReduceFault =>
  new ReduceFault('invalid_value', `_stats cannot be computed over ${what}: ${JSON.stringify(value)}`);
