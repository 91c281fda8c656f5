/**
 * The text of a document as it is stored: the client's own tokens in the client's order, without white space between
 * them and without the members that are kept elsewhere. Most requests hold exactly that text already, so the common
 * way is to slice it out; each thing that makes a text differ costs one more step and only where it occurs.
 */
import { asBytes, type Bytes } from '../base/bytes.js';
import { compactInto } from './compact.js';
import type { Member, ScannedObject } from './scan.js';
import { type Drop, settle } from './settle.js';
import { spaced, unsettled } from './walker.js';

const scratchKept_bytes = 1 << 20;
let scratch = makeScratch(1 << 16);

/** The canonical text as a byte string (`text.ts`). */
export function canonicalBody(object: ScannedObject, drop: Drop): Bytes {
  if ((object.flags & unsettled) !== 0) return settle(object, drop);
  if ((object.flags & spaced) !== 0) return compacted(object, drop);
  return sliced(object, drop);
}

/**
 * Between two members stands exactly one comma. What is kept before a dropped member ends with its comma or is empty,
 * and what follows a dropped member begins behind the comma, so pieces fit together; only when the last member is
 * dropped there is a comma too many.
 */
function sliced(object: ScannedObject, drop: Drop): Bytes {
  const { bytes, start, end } = object;
  let text = '{';
  let from = start + 1;
  for (const member of object.special) {
    if (!drop(member.name)) continue;
    if (member.keyStart > from) text += bytes.toString('latin1', from, member.keyStart);
    from = member.valueEnd + 1;
  }
  if (from === start + 1) return bytes.toString('latin1', start, end);
  if (from < end) return asBytes(text + bytes.toString('latin1', from, end));
  return text.length > 1 ? asBytes(`${text.slice(0, -1)}}`) : asBytes('{}');
}

/** As `sliced`, with each piece going through the scratch buffer. */
function compacted(object: ScannedObject, drop: Drop): Bytes {
  const { bytes, start, end } = object;
  const { out, outView } = scratchOf(end - start);
  const copying = { bytes, view: object.view, out, outView };
  out[0] = 0x7b;
  let length = 1;
  let from = start + 1;
  for (const member of object.special) {
    if (!drop(member.name)) continue;
    length = compactInto(copying, length, from, member.keyStart);
    from = behindSeparator(bytes, member);
  }
  length = compactInto(copying, length, from, end);
  if (from === end) {
    if (length > 1) length--;
    out[length++] = 0x7d;
  }
  return out.toString('latin1', 0, length);
}

/** Behind the comma or the brace that follows a member. */
function behindSeparator(bytes: Buffer, member: Member): number {
  let at = member.valueEnd;
  while (bytes[at]! <= 0x20) at++;
  return at + 1;
}

function scratchOf(size_bytes: number): typeof scratch {
  if (size_bytes <= scratch.out.length) return scratch;
  const larger = makeScratch(size_bytes);
  if (size_bytes <= scratchKept_bytes) scratch = larger;
  return larger;
}

function makeScratch(size_bytes: number) {
  const out = Buffer.allocUnsafeSlow(size_bytes);
  return { out, outView: new DataView(out.buffer, out.byteOffset, out.length) };
}
