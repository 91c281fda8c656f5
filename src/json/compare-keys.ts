import type { Bytes } from '../base/bytes.js';
import { charactersByWeight } from './ascii-weights.js';
import { compareStrings } from './collation.js';
import { numberBytes, tags, wideFlag } from './order-key.js';

/** Compares keys of `encodeKey`, and beginnings of keys that are bounds. */
export function compareKeys(a: Bytes, b: Bytes): number {
  if ((a.charCodeAt(0) | b.charCodeAt(0)) < wideFlag) return a < b ? -1 : a === b ? 0 : 1;
  return a === b ? 0 : compareParts(a, b);
}

/** Compares keys of `encodeRawKey`, and all else whose order is that of its bytes. */
export const compareBytes = (a: Bytes, b: Bytes): number => (a < b ? -1 : a === b ? 0 : 1);

/**
 * Walks over both keys at once. As long as nothing differs both have the same structure, so one flat walk will do: ends
 * of arrays and objects are values below all others.
 */
function compareParts(a: Bytes, b: Bytes): number {
  let i = 0;
  let j = 0;
  for (;;) {
    const tag = tagAt(a, i);
    const other = tagAt(b, j);
    const difference = rankOf(tag) - rankOf(other);
    if (difference !== 0) return difference;
    if (tag < 0) return 0;
    i++;
    j++;
    let length = 0;
    if (tag === tags.number) {
      length = numberBytes;
    } else if (tag === tags.ascii || tag === tags.text) {
      const end = a.indexOf('\0', i);
      const otherEnd = b.indexOf('\0', j);
      const order = compareContents(tag, a.slice(i, end), other, b.slice(j, otherEnd));
      if (order !== 0) return order;
      i = end + 1;
      j = otherEnd + 1;
    }
    for (; length > 0; length--) {
      const order = a.charCodeAt(i++) - b.charCodeAt(j++);
      if (order !== 0) return order;
    }
  }
}

/** -1 behind the last byte; the flag of the first byte taken away. */
function tagAt(key: Bytes, at: number): number {
  if (at >= key.length) return -1;
  const tag = key.charCodeAt(at);
  return at === 0 ? tag & ~wideFlag : tag;
}

const rankOf = (tag: number): number => (tag === tags.text ? tags.ascii : tag);

function compareContents(tag: number, a: Bytes, otherTag: number, b: Bytes): number {
  if (tag === otherTag && a === b) return 0;
  if (tag === tags.ascii && otherTag === tags.ascii) return a < b ? -1 : 1;
  return compareStrings(stringOf(tag, a), stringOf(otherTag, b));
}

function stringOf(tag: number, content: Bytes): string {
  return tag === tags.ascii ? asciiOf(content) : textOf(content);
}

/** The string without the characters that the collation ignores. */
function asciiOf(content: Bytes): string {
  const end = content.indexOf('\x01');
  const length = end < 0 ? content.length : end;
  let text = '';
  for (let i = 0; i < length; i++) {
    const character = charactersByWeight[content.charCodeAt(i)]!;
    const bits = end < 0 ? 0 : content.charCodeAt(end + 1 + Math.trunc(i / 7));
    text += (bits & (0x40 >> (i % 7))) === 0 ? character : character.toUpperCase();
  }
  return text;
}

function textOf(content: Bytes): string {
  let text = '';
  for (let i = 0; i < content.length;) {
    const byte = content.charCodeAt(i++);
    if (byte < 0x80) text += String.fromCharCode(byte);
    else if (byte < 0xe0)
      text += String.fromCharCode(((byte & 0x1f) << 6) | (content.charCodeAt(i++) & 0x3f));
    else {
      const unit =
        ((byte & 0x0f) << 12) | ((content.charCodeAt(i) & 0x3f) << 6) | (content.charCodeAt(i + 1) & 0x3f);
      text += String.fromCharCode(unit);
      i += 2;
    }
  }
  return text;
}
