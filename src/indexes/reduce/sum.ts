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

/**
 * `_sum`: adds numbers, arrays of numbers place by place, and objects member by member. What stands alone is kept as it is.
 * It begins at the last row, as CouchDB does: sums of fractions depend on the order.
 */
export const sumFold: Fold<unknown> = {
  rows(rows: readonly ReduceRow[]) {
    let total: unknown = 0;
    for (let i = rows.length - 1; i >= 0; i--) {
      total = add(total, parseValue(rows[i]!.value));
      if (total instanceof ReduceFault) return total;
    }
    return total;
  },
  merge(states) {
    let total: unknown = 0;
    for (const state of states) {
      if (state instanceof ReduceFault) return state;
      total = add(total, state);
      if (total instanceof ReduceFault) return total;
    }
    return total;
  },
  encode: (state) => (state instanceof ReduceFault ? encodeFault(state) : jsonBytes(state)),
  decode: (bytes) => (isFault(bytes) ? decodeFault(bytes) : parseValue(bytes)),
  show: (state) => (state instanceof ReduceFault ? state : jsonBytes(state)),
};

/** The sum of both, or a fault that has what could not be added: what of the total it is in lists, as in CouchDB. */
function add(total: unknown, value: unknown): unknown {
  if (typeof value === 'number' && typeof total === 'number') return total + value;
  const [left, right] = [listOf(total), listOf(value)];
  // A number beside arrays counts in their first place.
  if (left !== undefined && right !== undefined) return addLists(left, right);
  if (!isObject(value)) return cannotAdd(value);
  if (total === 0) return value;
  return isObject(total) ? addObjects(total, value) : cannotAdd(value);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function listOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  return typeof value === 'number' ? [value] : undefined;
}

function addLists(left: readonly unknown[], right: readonly unknown[]): unknown[] | ReduceFault {
  const shared = Math.min(left.length, right.length);
  const sums = (left.length > right.length ? left : right).slice();
  for (let i = 0; i < shared; i++) {
    const [one, other] = [left[i], right[i]];
    if (typeof one !== 'number' || typeof other !== 'number') return cannotAdd(left.slice(i));
    sums[i] = one + other;
  }
  return sums;
}

function addObjects(left: object, right: object): object {
  const sums = new Map<string, unknown>(Object.entries(left));
  for (const [name, value] of Object.entries(right)) {
    const sum = sums.has(name) ? add(sums.get(name), value) : value;
    if (sum instanceof ReduceFault) return sum;
    sums.set(name, sum);
  }
  return Object.fromEntries(sums);
}

const cannotAdd = (value: unknown): ReduceFault =>
  new ReduceFault(
    'builtin_reduce_error',
    'The _sum function requires that map values be numbers, arrays of numbers, or objects. Objects cannot be mixed with ' +
      'other data structures. Objects can be arbitrarily nested, provided that the values for all fields are themselves ' +
      'numbers, arrays of numbers, or objects.',
    jsonBytes(value),
  );
