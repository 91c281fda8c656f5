import type { Seq } from './peer.js';

/** The number in a place: what stands before the opaque part. A place without one is given as it is. */
export function seqNumber(seq: unknown): unknown {
  if (typeof seq === 'string') {
    const digits = /^"?(\d{1,15})(?!\d)/.exec(seq)?.[1];
    return digits === undefined ? seq : Number(digits);
  }
  return Array.isArray(seq) && typeof seq[0] === 'number' ? seq[0] : seq;
}

/** Whether a value that came as JSON can be a place. */
export function isSeq(value: unknown): value is Seq {
  return typeof value === 'string' || typeof value === 'number' || Array.isArray(value);
}

/** As it stands in a query. */
export const seqText = (seq: Seq): string => (typeof seq === 'string' ? seq : JSON.stringify(seq));

/** The beginning has many names: every source has its own for the place before the first change. */
export const sameSeq = (a: unknown, b: unknown): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b) || (seqNumber(a) === 0 && seqNumber(b) === 0);
