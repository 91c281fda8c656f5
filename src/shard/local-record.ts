import { asBytes, ByteReader, lengthPrefixed, noBytes, varint, type Bytes } from '../base/bytes.js';

/** A local document: `rev(varint) id-length(varint) [id] body`; the id only where its key does not hold it. */
export interface LocalRecord {
  /** The number behind `0-`. */
  rev: number;
  longId: Bytes | undefined;
  body: Bytes;
}

export function encodeLocal({ rev, longId, body }: LocalRecord): Bytes {
  return asBytes(varint(rev) + lengthPrefixed(longId ?? noBytes) + body);
}

export function decodeLocal(bytes: Bytes): LocalRecord {
  const reader = new ByteReader(bytes);
  const rev = reader.varint();
  const longId = reader.take(reader.varint());
  return { rev, longId: longId === '' ? undefined : longId, body: reader.rest() };
}
