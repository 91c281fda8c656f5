import type { Bytes } from '../base/bytes.js';
import { compareBytes, compareKeys } from '../json/compare-keys.js';
import { encodeKey, encodeRawKey } from '../json/order-key.js';

/** The order of a view's keys: how they are encoded, and how encoded ones compare. */
export interface KeyOrder {
  encode(key: unknown): Bytes;
  compare(a: Bytes, b: Bytes): number;
}

const collated: KeyOrder = { encode: encodeKey, compare: compareKeys };

const raw: KeyOrder = { encode: encodeRawKey, compare: compareBytes };

export const keyOrder = (isRaw: boolean): KeyOrder => (isRaw ? raw : collated);
