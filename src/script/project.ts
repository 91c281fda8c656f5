import { asBytes, type Bytes } from '../base/bytes.js';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/** The documents as one JSON array, each with no more than the members that are asked for. */
export function joinDocs(docs: readonly Bytes[], members: ReadonlySet<string> | undefined): Bytes {
  if (members === undefined) return asBytes(`[${docs.join(',')}]`);
  let text = '[';
  for (let i = 0; i < docs.length; i++) text += (i === 0 ? '' : ',') + pickMembers(docs[i]!, members);
  return asBytes(`${text}]`);
}

/**
 * Some members of a JSON object. Its text has no white space, as stored documents have none; one that has is given back
 * whole. Members whose names are written with escapes are kept, whatever they are.
 */
function pickMembers(doc: Bytes, members: ReadonlySet<string>): Bytes {
  let picked = '';
  let at = 1;
  for (;;) {
    if (doc.charCodeAt(at) !== quote) return doc;
    const nameEnd = endOfString(doc, at);
    if (doc.charCodeAt(nameEnd) !== colon) return doc;
    const end = endOfValue(doc, nameEnd + 1);
    const name = doc.slice(at + 1, nameEnd - 1);
    if (members.has(name) || name.includes('\\')) picked += (picked === '' ? '' : ',') + doc.slice(at, end);
    if (end === doc.length - 1) return asBytes(`{${picked}}`);
    if (doc.charCodeAt(end) !== comma) return doc;
    at = end + 1;
  }
}

/** Behind the quote that ends the string which begins at `at`. */
function endOfString(text: Bytes, at: number): number {
  for (let from = at + 1; ;) {
    const end = text.indexOf('"', from);
    if (end < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return end + 1;
    from = end + 1;
  }
}

/** Behind the value which begins at `at`. */
function endOfValue(text: Bytes, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case quote:
        i = endOfString(text, i) - 1;
        if (depth === 0) return i + 1;
        break;
      case 0x7b: // {
      case 0x5b: // [
        depth++;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        if (depth === 0) return i;
        if (--depth === 0) return i + 1;
        break;
      case comma:
        if (depth === 0) return i;
        break;
    }
  }
  return text.length;
}

/** The elements of a JSON array whose text has no white space. */
export function splitArray(text: Bytes): Bytes[] {
  const elements: Bytes[] = [];
  if (text === '[]') return elements;
  for (let at = 1; at < text.length;) {
    const end = endOfValue(text, at);
    elements.push(text.slice(at, end));
    at = end + 1;
  }
  return elements;
}
