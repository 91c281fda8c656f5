import { asBytes, ByteReader, lengthPrefixed, toBytes, varint, type Bytes } from '../base/bytes.js';
import type { Rev } from '../revisions/rev.js';
import { encodeRev, readRev } from './doc-record.js';

/** One remembered purge: `uuid id count revisions`, texts with their length before them. */
export interface PurgeRecord {
  uuid: string;
  id: Bytes;
  revs: Rev[];
}

export function encodePurge({ uuid, id, revs }: PurgeRecord): Bytes {
  return asBytes(
    lengthPrefixed(toBytes(uuid)) + lengthPrefixed(id) + varint(revs.length) + revs.map(encodeRev).join(''),
  );
}

export function decodePurge(bytes: Bytes): PurgeRecord {
  const reader = new ByteReader(bytes);
  const uuid = reader.take(reader.varint());
  const id = reader.take(reader.varint());
  const revs: Rev[] = [];
  for (let left = reader.varint(); left > 0; left--) revs.push(readRev(reader));
  return { uuid, id, revs };
}
