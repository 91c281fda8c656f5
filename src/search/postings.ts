import { ByteReader, fromBytes, lengthPrefixed, toBytes, u32, varint, type Bytes } from '../base/bytes.js';

/**
 * The rows of a search index, all in one tree. Documents have numbers in it, given in the order in which they come, so that
 * the postings of a term are short and stand in one order. `docs/formats/indexes.md` describes them.
 *
 *   \0                       the number of the next document
 *   d                        a document: its id, what is stored of it, its values for sorting and facets
 *   l field                  the number of terms that a document has in a field
 *   n field double(8)        a document with this number in a field
 *   t field term             a document with this term in a field: how often, and where
 *
 * In an index with partitions, all but the first begin with the partition.
 */
export const counterKey: Bytes = '\0';
export const docKey: Bytes = 'd';

export const lengthKey = (field: string): Bytes => `l${lengthPrefixed(toBytes(field))}`;
const numbersKey = (field: string): Bytes => `n${lengthPrefixed(toBytes(field))}`;
export const termsKey = (field: string): Bytes => `t${lengthPrefixed(toBytes(field))}`;
export const termKey = (field: string, term: string): Bytes => termsKey(field) + toBytes(term);
export const numberKey = (field: string, value: number): Bytes => numbersKey(field) + orderedDouble(value);

/** What the keys of a partition begin with. */
export const partitionPrefix = (partition: Bytes | undefined): Bytes =>
  partition === undefined ? '' : `p${Buffer.from(partition, 'latin1').toString('hex')}/`;

export const docNumber = (number: number): Bytes => u32(number);

export const readDocNumber = (bytes: Bytes): number =>
  ((bytes.charCodeAt(0) << 24) |
    (bytes.charCodeAt(1) << 16) |
    (bytes.charCodeAt(2) << 8) |
    bytes.charCodeAt(3)) >>>
  0;

const scratch = Buffer.alloc(8);

/** Eight bytes in the order of numbers. */
function orderedDouble(value: number): Bytes {
  // -0 is 0.
  scratch.writeDoubleBE(value === 0 ? 0 : value);
  if (scratch[0]! & 0x80) for (let i = 0; i < 8; i++) scratch[i] = ~scratch[i]! & 0xff;
  else scratch[0] = scratch[0]! | 0x80;
  return scratch.latin1Slice(0, 8);
}

/** Boosts are kept as so many thousandths. */
const boostUnit = 1_000;

/** `frequency length boost position…`, each position as the distance from the one before. */
export function encodePosting(positions: readonly number[], length: number, boost: number): Bytes {
  const [first] = positions as [number];
  // Most terms stand once in a short text.
  if (positions.length === 1 && boost === 1 && length < 0x80 && first < 0x80)
    return String.fromCharCode(1, length, 0xe8, 0x07, first);
  let bytes = varint(positions.length) + varint(length) + varint(Math.round(boost * boostUnit));
  let before = 0;
  for (const position of positions) {
    bytes += varint(position - before);
    before = position;
  }
  return bytes;
}

export interface Posting {
  frequency: number;
  /** Terms of the field. */
  length: number;
  boost: number;
}

/** All but the positions. */
export function readPosting(bytes: Bytes): Posting {
  // Nearly always each is a single byte, but for the boost of 1, which has two.
  const frequency = bytes.charCodeAt(0);
  const length = bytes.charCodeAt(1);
  if (frequency < 0x80 && length < 0x80 && bytes.charCodeAt(2) === 0xe8 && bytes.charCodeAt(3) === 0x07)
    return { frequency, length, boost: 1 };
  const reader = new ByteReader(bytes);
  return { frequency: reader.varint(), length: reader.varint(), boost: reader.varint() / boostUnit };
}

export function readPositions(bytes: Bytes): number[] {
  const reader = new ByteReader(bytes);
  const count = reader.varint();
  reader.varint();
  reader.varint();
  const positions: number[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) positions.push((at += reader.varint()));
  return positions;
}

type FieldValue = string | number | boolean;

/** What an index keeps of a document. Members that would be empty are left out. */
export interface DocValues {
  /** Stored fields. */
  s?: Record<string, FieldValue | FieldValue[]>;
  /** Values for sorting: all numbers of a field, or the beginning of its first text. */
  v?: Record<string, number[] | string>;
  /** Texts to count and to drill down by. */
  f?: Record<string, string[]>;
}

export interface IndexedDoc {
  id: Bytes;
  values: DocValues;
}

export const encodeDoc = (id: Bytes, values: Bytes): Bytes => lengthPrefixed(id) + values;

export function readDoc(bytes: Bytes): IndexedDoc {
  const reader = new ByteReader(bytes);
  const id = reader.take(reader.varint());
  return { id, values: JSON.parse(fromBytes(reader.rest())) as DocValues };
}
