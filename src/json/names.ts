/**
 * Names of members with a meaning of their own. A bulk request repeats the same few a thousand times, and making a
 * string of bytes costs ten times as much as recognising one that exists.
 */
import { decodeString } from './text.js';

const known = ['_id', '_rev', '_deleted', '_revisions', '_attachments', 'docs', 'new_edits'];

/** The name in the (scanned) key `bytes[start, end)`. */
export function memberName(bytes: Buffer, start: number, end: number): string {
  for (const name of known) if (reads(bytes, start, end, name)) return name;
  return decodeString(bytes, start, end);
}

function reads(bytes: Buffer, start: number, end: number, name: string): boolean {
  if (end - start - 2 !== name.length) return false;
  for (let index = 0; index < name.length; index++) {
    if (bytes[start + 1 + index] !== name.charCodeAt(index)) return false;
  }
  return true;
}
