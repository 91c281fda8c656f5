import { crc32 } from 'node:zlib';
import type { Bytes } from '../base/bytes.js';

/**
 * A document belongs to the shard whose range holds the CRC-32 of its id: the same placement as CouchDB's, so that
 * `_shards` answers the same.
 */
const hashSpace = 2 ** 32;

export function shardOf(id: Bytes, q: number): number {
  if (q === 1) return 0;
  return Math.min(q - 1, Math.floor(hashOf(id) / Math.floor(hashSpace / q)));
}

export const hashOf = (id: Bytes): number => crc32(Buffer.from(id, 'latin1'));

/** The first and the last hash of a shard. */
export interface HashRange {
  first: number;
  last: number;
}

/** The range of one of `q` equal shards. */
export function rangeOf(shard: number, q: number): HashRange {
  const width = Math.floor(hashSpace / q);
  return { first: shard * width, last: shard === q - 1 ? hashSpace - 1 : (shard + 1) * width - 1 };
}

export const rangeName = ({ first, last }: HashRange): string => `${hex(first)}-${hex(last)}`;

const hex = (hash: number): string => hash.toString(16).padStart(8, '0');
