import { isUtf8 } from 'node:buffer';
import { asBytes, type Bytes } from '../../base/bytes.js';
import { badRequest } from '../../base/errors.js';

/**
 * The parts of a path as byte strings. Doubled and trailing slashes mean nothing, a bare `+` is a space unless configured
 * otherwise, an escaped slash belongs to its part: as CouchDB reads paths.
 */
export function splitPath(path: string, plusIsSpace = true): Bytes[] {
  const parts: Bytes[] = [];
  const plain = !escaped.test(path);
  for (let from = 0; from < path.length;) {
    const slash = path.indexOf('/', from);
    const to = slash < 0 ? path.length : slash;
    if (to > from)
      parts.push(plain ? asBytes(path.slice(from, to)) : decodeComponent(path.slice(from, to), plusIsSpace));
    from = to + 1;
  }
  return parts;
}

const escaped = /[%+]/;

/**
 * The path and query that a request line asks for. It may name the whole address, as to a proxy; who is meant by it is
 * this server all the same. A star is the server as a whole.
 */
export function targetOf(url: string, method: string): string {
  if (url.charCodeAt(0) === 0x2f) return url;
  if (url === '*' && method === 'OPTIONS') return '/';
  const absolute = /^https?:\/\/[^/?#]*/i.exec(url);
  if (absolute === null) throw badRequest('The address of the request is not a path.');
  const path = url.slice(absolute[0].length);
  return path.startsWith('/') ? path : `/${path}`;
}

/** Percent escapes and pluses undone; gives bytes, which need not be UTF-8. */
export function decodeComponent(text: string, plusIsSpace = true, isLenient = false): Bytes {
  // Node reads request lines as latin1: raw bytes beyond ASCII are bytes already.
  if (!escaped.test(text)) return asBytes(text);
  let bytes = '';
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (character === '+' && plusIsSpace) bytes += ' ';
    else if (character !== '%') bytes += character;
    else {
      const hex = text.slice(i + 1, i + 3);
      if (/^[0-9a-fA-F]{2}$/.test(hex)) {
        bytes += String.fromCharCode(parseInt(hex, 16));
        i += 2;
      } else if (isLenient) bytes += character;
      else throw badRequest('invalid_url_encoding');
    }
  }
  return asBytes(bytes);
}

export const isText = (bytes: Bytes): boolean => isUtf8(Buffer.from(bytes, 'latin1'));

/** A path part for a `Location`: everything but letters, digits and `-_.:` is escaped, slashes too. */
export function encodePart(bytes: Bytes): string {
  if (allUnreserved.test(bytes)) return bytes;
  let text = '';
  for (let i = 0; i < bytes.length; i++) {
    const character = bytes[i]!;
    text += unreserved.test(character)
      ? character
      : '%' + bytes.charCodeAt(i).toString(16).toUpperCase().padStart(2, '0');
  }
  return text;
}

const allUnreserved = /^[A-Za-z0-9\-_.:]*$/;
const unreserved = /[A-Za-z0-9\-_.:]/;
