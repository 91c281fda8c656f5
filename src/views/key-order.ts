import type { Bytes } from '../base/bytes.js';
import { compareBytes, compareKeys } from '../json/compare-keys.js';
import { encodeKey, encodeRawKey, keyPrefix } from '../json/order-key.js';

/** The order of a view's keys: how they are encoded, and how encoded ones compare. */
export interface KeyOrder {
  encode(key: unknown): Bytes;
  compare(a: Bytes, b: Bytes): number;
}

const collated: KeyOrder = { encode: encodeKey, compare: compareKeys };

const raw: KeyOrder = { encode: encodeRawKey, compare: compareBytes };

export const keyOrder = (isRaw: boolean): KeyOrder => (isRaw ? raw : collated);

/** Stands for a partition in keys: such texts are equal only where the names are the same to the last byte. */
export const partitionKey = (partition: Bytes): string => Buffer.from(partition, 'latin1').toString('hex');

/**
 * The key of a row. In a view with partitions that is a list of the partition and the key, so that the rows of a partition
 * stand together.
 */
export function encodeIn(partition: string | undefined, order: KeyOrder, key: unknown): Bytes {
  return order.encode(partition === undefined ? key : [partition, key]);
}

/** The bounds of a partition's rows. */
export function partitionBounds(partition: string, order: KeyOrder): { low: Bytes; high: Bytes } {
  const low = keyPrefix(order.encode([partition]), 1)!;
  return { low, high: `${low}\xff` };
}

/** As `keyPrefix`, of the key that stands behind a partition. */
export function keyPrefixIn(partition: string | undefined, key: Bytes, level: number): Bytes | undefined {
  if (partition === undefined) return keyPrefix(key, level);
  const head = keyPrefix(key, 1)!;
  // Only the very first byte of a key tells whether it holds more than ASCII.
  const prefix = keyPrefix(key.slice(head.length), level);
  return prefix === undefined ? undefined : head + prefix;
}
