import { asBytes, fromBytes, noBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { compareJson } from '../../json/collation.js';
import type { RowEnd } from '../tree/row.js';
import type { Fold } from './fold.js';

/** `_first` and `_last`: the value of the first or last row, in the order of the view. */
export const endFold = (end: RowEnd): Fold<Bytes | undefined> => {
  const pick = <T>(list: readonly T[]): T | undefined => (end === 'first' ? list[0] : list.at(-1));
  return {
    end,
    rows: (rows) => pick(rows)?.value,
    merge: (states) => pick(states.filter((state) => state !== undefined)),
    encode: (state) => state ?? noBytes,
    decode: (bytes) => (bytes === '' ? undefined : bytes),
    show: (state) => state ?? asBytes('null'),
  };
};

/** `_top_N` and `_bottom_N`: the largest or smallest values, the most extreme first, and equal ones once. */
export const extremesFold = (kind: 'top' | 'bottom', most: number): Fold<readonly unknown[]> => {
  const order = kind === 'top' ? (a: unknown, b: unknown) => compareJson(b, a) : compareJson;
  const best = (values: unknown[]): readonly unknown[] => {
    const sorted = values.sort(order);
    return sorted.filter((value, at) => at === 0 || order(sorted[at - 1], value) !== 0).slice(0, most);
  };
  return {
    rows: (rows) => best(rows.map(({ value }) => JSON.parse(fromBytes(value)) as unknown)),
    merge: (states) => best(states.flat()),
    encode: (state) => encodeList(state),
    decode: (bytes) => JSON.parse(fromBytes(bytes)) as unknown[],
    show: (state) => encodeList(state),
  };
};

const encodeList = (values: readonly unknown[]): Bytes => toBytes(JSON.stringify(values));
