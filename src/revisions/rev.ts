import { badRequest, type RequestError } from '../base/errors.js';

/**
 * A revision: its generation and its hash, written `pos-hash`.
 *
 * A hash is one of two things. Hashes made here, and by every CouchDB, are 16 bytes, held as 32 lower-case hex
 * digits. Clients that replicate may bring any other text (`1-abc`), which is kept as it came. The two kinds are
 * ordered together, as bytes, because every replica must choose the same winner among them.
 */
export type Rev = { readonly pos: number; readonly hash: string };

/** Above this a generation would no longer be an exact number. */
export const revPosMax = Number.MAX_SAFE_INTEGER;
export const revHashBytesMax = 1_024;

export const invalidRev = (): RequestError => badRequest('Invalid rev format');

const digit0 = 0x30;
const digit9 = 0x39;
const letterA = 0x61;
const letterF = 0x66;

export function parseRev(text: string): Rev {
  const dash = text.indexOf('-');
  let at = text.charCodeAt(0) === 0x2b /* + */ ? 1 : 0;
  if (dash <= at) throw invalidRev();
  let pos = 0;
  for (; at < dash; at++) {
    const code = text.charCodeAt(at);
    if (code < digit0 || code > digit9) throw invalidRev();
    pos = pos * 10 + (code - digit0);
    if (pos > revPosMax) throw invalidRev();
  }
  return { pos, hash: parseHash(text.slice(dash + 1)) };
}

/** The hash alone, as it stands in `_revisions.ids`. What has the length of 16 bytes in hex must be that. */
export function parseHash(text: string): string {
  if (text.length === 32) {
    if (isHex(text)) return text;
    if (anyCaseHex32.test(text)) return text.toLowerCase();
    throw invalidRev();
  }
  if (text.length > revHashBytesMax) throw invalidRev();
  if (notAscii.test(text)) {
    // Half a surrogate pair has no UTF-8 and would come back from the disk as another hash.
    const bytes = Buffer.from(text);
    if (bytes.length > revHashBytesMax || bytes.toString() !== text) throw invalidRev();
  }
  return text;
}

export const formatRev = (rev: Rev): string => `${rev.pos}-${rev.hash}`;

/** Lower-case hex digits: a loop takes a third of the time of a pattern, and replications ask this several times of each document. */
function isHex(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (!((code >= digit0 && code <= digit9) || (code >= letterA && code <= letterF))) return false;
  }
  return true;
}

const anyCaseHex32 = /^[0-9a-fA-F]{32}$/;
const notAscii = /[^\x00-\x7f]/;

/** Whether the hash stands for 16 raw bytes. */
export const isRawHash = (hash: string): boolean => hash.length === 32 && isHex(hash);

/** Whether a hash is ordered as its characters are. */
const isPlainHash = (hash: string): boolean => !isRawHash(hash) && !notAscii.test(hash);

/** The bytes by which a hash is ordered. */
const bytesOf = (hash: string): Buffer => Buffer.from(hash, isRawHash(hash) ? 'hex' : 'utf8');

/** Byte order: negative when `a` sorts below `b`. */
export function compareHashes(a: string, b: string): number {
  if (a === b) return 0;
  // What is so long is the digits of raw bytes: `parseHash`.
  if (a.length === 32 && b.length === 32) return a < b ? -1 : 1;
  if (isPlainHash(a) && isPlainHash(b)) return a < b ? -1 : 1;
  const order = Buffer.compare(bytesOf(a), bytesOf(b));
  // A text of 16 bytes and the hex digits of those bytes are two hashes; the order must tell them apart.
  return order !== 0 ? order : a < b ? -1 : 1;
}

/** The generation first, then the hash: negative when `a` sorts below `b`. */
export const compareRevs = (a: Rev, b: Rev): number => a.pos - b.pos || compareHashes(a.hash, b.hash);
