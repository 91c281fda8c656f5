import { CorruptRecord } from '../base/corrupt-record.js';
import type { Bytes } from '../base/bytes.js';
import { checksumBytes } from './checksum.js';
import type { Lmdb } from './lmdb-environment.js';
import { withChecksum } from './lmdb-records.js';

/**
 * A store says of itself of which format its records are, from its first commit on. That of earlier versions says nothing:
 * its values have no checksums.
 */
export const formatKey = '\0\0';
export const summedFormat = 'v1';
/** Before the key where adding checksums goes on. */
export const upgradingFormat = 'u';

/** The store is neither of the earlier format nor of this one. */
export class UnfinishedUpgrade extends Error {}

export type LmdbFormat = 'new' | 'plain' | 'summed';

export function formatOf(db: Lmdb): LmdbFormat {
  const stored = db.getBinaryFast(formatKey) as Buffer | undefined;
  const format = readFormatRecord(stored?.latin1Slice(0, stored.length));
  if (format === undefined) {
    const { entryCount } = db.getStats() as { entryCount: number };
    return entryCount === 0 ? 'new' : 'plain';
  }
  if (format === summedFormat) return 'summed';
  throw new UnfinishedUpgrade('its records are being given checksums, which is not complete');
}

/** What the record with its checksum says: `summedFormat`, or `upgradingFormat` and a key. */
export function readFormatRecord(stored: Bytes | undefined): Bytes | undefined {
  if (stored === undefined) return undefined;
  const format = stored.slice(0, -checksumBytes);
  const isKnown = format === summedFormat || format.startsWith(upgradingFormat);
  if (!isKnown || withChecksum(formatKey, format) !== stored)
    throw new CorruptRecord('the record that says of which format the store is', formatKey);
  return format;
}
