import { toBytes } from '../../base/bytes.js';
import type { Fold } from './fold.js';

/** `_count`: the number of rows. */
export const countFold: Fold<number> = {
  rows: (rows) => rows.length,
  ofCount: (rows) => rows,
  merge: (states) => states.reduce((sum, count) => sum + count, 0),
  encode: (count) => toBytes(String(count)),
  decode: Number,
  show: (count) => toBytes(String(count)),
};
