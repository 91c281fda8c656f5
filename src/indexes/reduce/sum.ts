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

type Sum = number | readonly Sum[] | { readonly [name: string]: Sum };

/** `_sum`: adds numbers, arrays of numbers place by place, and objects member by member. */
export const sumFold: Fold<Sum | ReduceFault> = {
  rows(rows: readonly ReduceRow[]) {
    let total: Sum | ReduceFault = 0;
    for (const { value } of rows) {
      total = add(total, parseValue(value));
      if (total instanceof ReduceFault) return total;
    }
    return total;
  },
  merge(states) {
    let total: Sum | ReduceFault = 0;
    for (const state of states) {
      if (state instanceof ReduceFault) return state;
      total = add(total, state);
      if (total instanceof ReduceFault) return total;
    }
    return total;
  },
  encode: (state) => (state instanceof ReduceFault ? encodeFault(state) : jsonBytes(state)),
  decode: (bytes) => (isFault(bytes) ? decodeFault(bytes) : (parseValue(bytes) as Sum)),
  show: (state) => (state instanceof ReduceFault ? state : jsonBytes(state)),
};

function add(total: Sum, value: unknown): Sum | ReduceFault {
  if (typeof value === 'number' && typeof total === 'number') return total + value;
  return addSums(total, value) ?? cannotAdd(value);
}

/** The sum of both, or undefined for what can't be added. */
function addSums(total: Sum, value: unknown): Sum | undefined {
  if (typeof value === 'number') {
    if (typeof total === 'number') return total + value;
    // A number beside arrays counts in their first place.
    return Array.isArray(total) ? addLists(total as Sum[], [value]) : undefined;
  }
  if (Array.isArray(value)) {
    if (Array.isArray(total)) return addLists(total as Sum[], value);
    return typeof total === 'number' ? addLists(total === 0 ? [] : [total], value) : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(total)) return undefined;
  if (typeof total === 'number' && total !== 0) return undefined;
  return addObjects(typeof total === 'number' ? {} : (total as Record<string, Sum>), value);
}

function addLists(left: readonly Sum[], right: readonly unknown[]): Sum[] | undefined {
  const sums: Sum[] = [];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const sum = i < right.length ? addSums(left[i] ?? 0, right[i]) : left[i];
    if (sum === undefined) return undefined;
    sums.push(sum);
  }
  return sums;
}

function addObjects(left: Record<string, Sum>, right: object): Record<string, Sum> | undefined {
  const sums = new Map<string, Sum>(Object.entries(left));
  for (const [name, value] of Object.entries(right)) {
    const sum = addSums(sums.get(name) ?? 0, value);
    if (sum === undefined) return undefined;
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
