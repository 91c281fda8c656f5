import {
  asBytes,
  ByteReader,
  fromBytes,
  lengthPrefixed,
  noBytes,
  toBytes,
  u32,
  type Bytes,
} from '../base/bytes.js';

/**
 * The rows of a search index, all in one tree. Documents have numbers in it, given in the order in which they come, so that
 * the postings of a term are short and stand in one order. `docs/formats/indexes.md` describes them.
 *
 *   \0                       the number of the next document
 *   d                        a document: its id, what is stored of it, its values for sorting and facets
 *   l field                  documents that have the field, and the number of terms that each has in it
 *   n field double(8)        documents that have this number in a field
 *   t field term             documents that have this term in a field: how often, and where
 *   e field dimensions(4)    the vector that a document has in a field
 *
 * Those of `l`, `n` and `t` are blocks of documents (`posting-block.ts`).
 * In an index with partitions, all but the first begin with the partition.
 */
export const counterKey: Bytes = asBytes('\0');
export const docKey: Bytes = asBytes('d');

export const lengthKey = (field: string): Bytes => asBytes(`l${lengthPrefixed(toBytes(field))}`);
const numbersKey = (field: string): Bytes => asBytes(`n${lengthPrefixed(toBytes(field))}`);
export const termsKey = (field: string): Bytes => asBytes(`t${lengthPrefixed(toBytes(field))}`);
export const termKey = (field: string, term: string): Bytes => asBytes(termsKey(field) + toBytes(term));
export const numberKey = (field: string, value: number): Bytes =>
  asBytes(numbersKey(field) + orderedDouble(value));

/** Vectors of a field; those of other dimensions have rows apart. */
export const vectorsKey = (field: string): Bytes => asBytes(`e${lengthPrefixed(toBytes(field))}`);
export const vectorKey = (field: string, dimensions: number): Bytes =>
  asBytes(vectorsKey(field) + u32(dimensions));

/** Whether the rows of a key are blocks of postings. */
export const isBlockKind = (kind: string): boolean => kind !== 'd' && kind !== 'e';

const partitionLetter = 0x70;

/** What the keys of a partition begin with. */
export const partitionPrefix = (partition: Bytes | undefined): Bytes =>
  partition === undefined ? noBytes : asBytes(`p${Buffer.from(partition, 'latin1').toString('hex')}/`);

/** The first letter of a key, behind the partition. */
export const kindOf = (key: Bytes): string =>
  key.charCodeAt(0) === partitionLetter ? key.charAt(key.indexOf('/') + 1) : key.charAt(0);

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

export const encodeDoc = (id: Bytes, values: Bytes): Bytes => asBytes(lengthPrefixed(id) + values);

export function readDoc(bytes: Bytes): IndexedDoc {
  const reader = new ByteReader(bytes);
  const id = reader.take(reader.varint());
  return { id, values: JSON.parse(fromBytes(reader.rest())) as DocValues };
}
