import { CorruptRecord } from '../base/corrupt-record.js';
import { asBytes, type Bytes } from '../base/bytes.js';
import { checksumBytes, knownSums, type Sums } from './checksum.js';
import type { Lmdb } from './lmdb-environment.js';
import { withChecksum } from './lmdb-records.js';

/**
 * A store says of itself of which format its records are, from its first commit on. That of earlier versions says nothing:
 * its values have no checksums.
 */
export const formatKey = asBytes('\0\0');

/** The store is neither of the earlier format nor of this one. */
export class UnfinishedUpgrade extends Error {}

/** What is known of a store: nothing, as it is new; which checksums its values have, or none. */
export type LmdbFormat = 'new' | 'plain' | Sums;

export function formatOf(db: Lmdb): LmdbFormat {
  const stored = db.getBinaryFast(formatKey) as Buffer | undefined;
  const format = readFormatRecord(stored?.latin1Slice(0, stored.length));
  if (format === undefined) {
    const { entryCount } = db.getStats() as { entryCount: number };
    return entryCount === 0 ? 'new' : 'plain';
  }
  if (format.next === undefined) return format.sums;
  throw new UnfinishedUpgrade('its records are being given checksums, which is not complete');
}

export interface FormatRecord {
  sums: Sums;
  /** The key where adding checksums goes on; undefined when all have theirs. */
  next: Bytes | undefined;
}

export function readFormatRecord(stored: Bytes | undefined): FormatRecord | undefined {
  if (stored === undefined) return undefined;
  const text = stored.slice(0, -checksumBytes);
  for (const sums of knownSums) {
    const { complete, upgrading } = sums;
    const next = text.startsWith(upgrading) ? text.slice(upgrading.length) : undefined;
    if (next === undefined && text !== complete) continue;
    if (withChecksum(formatKey, text, sums) === stored) return { sums, next };
  }
  throw new CorruptRecord('the record that says of which format the store is', formatKey);
}

/** The record with its checksum. */
export const formatRecord = ({ sums, next }: FormatRecord): Bytes =>
  withChecksum(formatKey, next === undefined ? sums.complete : asBytes(sums.upgrading + next), sums);
