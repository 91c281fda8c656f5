import type { Fold } from './fold.js';

/** `_count`: the number of rows. */
export const countFold: Fold<number> = {
  rows: (rows) => rows.length,
  ofCount: (rows) => rows,
  merge: (states) => states.reduce((sum, count) => sum + count, 0),
  encode: String,
  decode: Number,
  show: String,
};
