import { asBytes, fromBytes, toBytes, u16, u32, u8, type Bytes } from '../../base/bytes.js';

/**
 * A key, which is JSON, in the binary form of which CouchDB takes hashes (Erlang's external term format). With the same
 * hashes, both estimate the same number of distinct keys.
 */
export const hashedForm = (keyText: Bytes): Bytes =>
  asBytes(version + formOf(JSON.parse(fromBytes(keyText))));

const version = u8(131);

const tags = {
  float: u8(70),
  byte: u8(97),
  int32: u8(98),
  atom: u8(100),
  tuple: u8(104),
  nil: u8(106),
  byteList: u8(107),
  list: u8(108),
  binary: u8(109),
  bigInteger: u8(110),
};
const byteListMax = 0xffff;

function formOf(value: unknown): Bytes {
  if (typeof value === 'number') return numberForm(value);
  if (typeof value === 'string') return textForm(value);
  if (Array.isArray(value)) return isByteList(value) ? byteListForm(value) : listForm(value.map(formOf));
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, each]) => tupleForm([textForm(name), formOf(each)]));
    return tupleForm([listForm(members)]);
  }
  const name = String(value);
  return asBytes(tags.atom + u16(name.length) + name);
}

function textForm(text: string): Bytes {
  const bytes = toBytes(text);
  return asBytes(tags.binary + u32(bytes.length) + bytes);
}

const tupleForm = (elements: readonly Bytes[]): Bytes =>
  asBytes(tags.tuple + u8(elements.length) + elements.join(''));

const listForm = (elements: readonly Bytes[]): Bytes =>
  elements.length === 0 ? tags.nil : asBytes(tags.list + u32(elements.length) + elements.join('') + tags.nil);

const isByte = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xff;

const isByteList = (list: readonly unknown[]): list is number[] =>
  list.length > 0 && list.length <= byteListMax && list.every(isByte);

const byteListForm = (list: readonly number[]): Bytes =>
  asBytes(tags.byteList + u16(list.length) + list.map(u8).join(''));

function numberForm(value: number): Bytes {
  if (isByte(value)) return asBytes(tags.byte + u8(value));
  if ((value | 0) === value) return asBytes(tags.int32 + u32(value >>> 0));
  // Views have numbers as JavaScript writes them: those with an exponent are read as floats.
  const text = String(value);
  return Number.isInteger(value) && !text.includes('e') ? bigIntegerForm(BigInt(text)) : floatForm(value);
}

function floatForm(value: number): Bytes {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return asBytes(tags.float + bytes.toString('latin1'));
}

/** The size in bytes, the sign, and the bytes from the lowest on. */
function bigIntegerForm(value: bigint): Bytes {
  let bytes = '';
  for (let rest = value < 0n ? -value : value; rest > 0n; rest >>= 8n) bytes += u8(Number(rest & 0xffn));
  return asBytes(tags.bigInteger + u8(bytes.length) + u8(value < 0n ? 1 : 0) + bytes);
}
