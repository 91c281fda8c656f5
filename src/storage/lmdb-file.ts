import fs from 'node:fs';
import os from 'node:os';

/**
 * Looks into an LMDB file before it is mapped into memory. LMDB believes what it reads there: a file that is too short
 * ends the process by SIGBUS, a page that is damaged by SIGSEGV. The layout is that of `mdb.c` for 64-bit machines with
 * the low byte first, data version 2; elsewhere nothing is checked.
 */
const isLayoutKnown = os.endianness() === 'LE' && !['arm', 'ia32', 'mipsel'].includes(process.arch);

export const pageHeaderBytes = 24;
export const noPage = 2 ** 64;
export const metaPages = 2;
const metaFlag = 8;
const magic = 0xbeefc0de;
const dataVersion = 2;
const depthMax = 32;

/** The number of the last transaction that was committed to a file; undefined where it can't be told. */
export function lastTransaction(file: string): number | undefined {
  if (!isLayoutKnown) return undefined;
  let fd: number | undefined;
  try {
    fd = fs.openSync(file, 'r');
    const first = readMeta(fd, 0);
    return Math.max(first.transaction, readMeta(fd, first.pageBytes).transaction);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

/** One of the two trees of a file: of free pages, and of what is stored. */
export interface LmdbTree {
  depth: number;
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
  /** `noPage` where the tree is empty. */
  root: number;
}

export interface LmdbHead {
  pageBytes: number;
  lastPage: number;
  fileBytes: number;
  free: LmdbTree;
  main: LmdbTree;
}

/** Why a file cannot be used; the message completes a sentence that begins with the name of the file. */
export class LmdbDamage extends Error {}

/** Undefined where the layout of this machine's files is not known. */
export function openHead(fd: number): LmdbHead | undefined {
  return isLayoutKnown ? readHead(fd) : undefined;
}

function readHead(fd: number): LmdbHead {
  const fileBytes = fs.fstatSync(fd).size;
  if (fileBytes === 0) throw new LmdbDamage('is empty');
  const first = readMeta(fd, 0);
  const { pageBytes, lastPage, free, main } = laterOf(first, readMeta(fd, first.pageBytes));
  return { pageBytes, lastPage, fileBytes, free, main };
}

/**
 * Commits use the two head pages by turns, and LMDB reads the one of the later commit. The numbers of the earlier one don't
 * matter, and may make no sense: a commit whose head page could not be written leaves the number of an old commit there
 * with the trees of the failed one.
 */
function laterOf(first: MetaPage, second: MetaPage): MetaPage {
  if (second.pageBytes !== first.pageBytes || !areNeighbours(first.transaction, second.transaction))
    throw new LmdbDamage('is damaged: its two head pages contradict each other');
  const later = second.transaction > first.transaction ? second : first;
  const { pageBytes, lastPage, free, main } = later;
  const isSound =
    Number.isSafeInteger(lastPage * pageBytes) &&
    lastPage >= metaPages - 1 &&
    isTreeSound(free, lastPage) &&
    isTreeSound(main, lastPage);
  if (!isSound) throw new LmdbDamage(impossibleNumbers);
  return later;
}

/** What a file holds at one moment. */
export interface CommittedPages {
  /** The two head pages. */
  head: Buffer;
  /** The number of the last transaction. */
  transaction: number;
  /** Where the pages of that transaction end; LMDB does not write free pages at the end, so the file may be shorter. */
  endBytes: number;
}

/**
 * The head of a file that others write to. Undefined where the layout of this machine's files is not known. All pages of the
 * transaction stay as they are for as long as a read transaction is open that was begun before the call.
 */
export function committedPages(fd: number): CommittedPages | undefined {
  if (!isLayoutKnown) return undefined;
  const { pageBytes } = readMeta(fd, 0);
  const head = readStable(fd, metaPages * pageBytes);
  const { transaction, lastPage } = laterOf(parseMeta(head, 0), parseMeta(head.subarray(pageBytes), 1));
  return { head, transaction, endBytes: (lastPage + 1) * pageBytes };
}

/** A commit may be writing a head page at this moment: what is read twice alike is whole. */
function readStable(fd: number, length: number): Buffer {
  let before = Buffer.alloc(0);
  for (let reads = 0; reads < stableReadsMax; reads++) {
    const bytes = Buffer.alloc(length);
    if (fs.readSync(fd, bytes, 0, length, 0) < length) throw cutShort();
    if (bytes.equals(before)) return bytes;
    before = bytes;
  }
  throw new LmdbDamage('changes too often to be read');
}

const stableReadsMax = 1_000;
const cutShort = (): LmdbDamage => new LmdbDamage('is cut short');

const impossibleNumbers = 'is damaged: a head page holds impossible numbers';

/** In a new file both are 0, in a compact copy the first is. */
function areNeighbours(even: number, odd: number): boolean {
  if (even % 2 !== 0 || (odd % 2 !== 1 && odd !== 0)) return false;
  return even === 0 || Math.abs(even - odd) === 1;
}

type MetaPage = Omit<LmdbHead, 'fileBytes'> & { transaction: number };

function readMeta(fd: number, at: number): MetaPage {
  const bytes = Buffer.alloc(168);
  if (fs.readSync(fd, bytes, 0, bytes.length, at) < bytes.length) throw cutShort();
  return parseMeta(bytes, at === 0 ? 0 : 1);
}

function parseMeta(bytes: Buffer, page: number): MetaPage {
  const number = (offset: number): number => Number(bytes.readBigUInt64LE(offset));
  if (number(0) !== page || bytes.readUInt16LE(18) !== metaFlag || bytes.readUInt32LE(24) !== magic)
    throw new LmdbDamage('is damaged: it does not begin as a store of this server does');
  if ((bytes.readUInt32LE(28) & 0xffff) !== dataVersion)
    throw new LmdbDamage('is damaged, or was written by another version of LMDB');
  const pageBytes = bytes.readUInt32LE(48);
  if (pageBytes < 256 || pageBytes > 65536 || (pageBytes & (pageBytes - 1)) !== 0)
    throw new LmdbDamage(impossibleNumbers);
  return {
    pageBytes,
    lastPage: number(144),
    free: readTree(bytes, 48),
    main: readTree(bytes, 96),
    transaction: number(152),
  };
}

function readTree(bytes: Buffer, at: number): LmdbTree {
  const number = (offset: number): number => Number(bytes.readBigUInt64LE(at + offset));
  return {
    depth: bytes.readUInt16LE(at + 6),
    branchPages: number(8),
    leafPages: number(16),
    overflowPages: number(24),
    entries: number(32),
    root: number(40),
  };
}

function isTreeSound(
  { depth, branchPages, leafPages, overflowPages, root }: LmdbTree,
  lastPage: number,
): boolean {
  if (root === noPage) return true;
  if (root < metaPages || root > lastPage || depth < 1 || depth > depthMax) return false;
  return branchPages + leafPages + overflowPages <= lastPage;
}
