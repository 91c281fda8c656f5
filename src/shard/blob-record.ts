import { ByteReader, type Bytes } from '../base/bytes.js';

/** The bytes of a small blob from its record; empty text for one that is kept as a file; undefined where there is none. */
export function smallBlob(bytes: Bytes | undefined): Bytes | undefined {
  if (bytes === undefined) return undefined;
  const reader = new ByteReader(bytes);
  reader.varint();
  return reader.rest();
}

export const fromHex = (hex: string): Bytes => Buffer.from(hex, 'hex').latin1Slice(0, hex.length / 2);
export const toHex = (bytes: Bytes): string => Buffer.from(bytes, 'latin1').toString('hex');
