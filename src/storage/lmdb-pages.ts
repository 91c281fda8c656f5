import fs from 'node:fs';
import type { TimeSlice } from '../base/turns.js';
import { LmdbDamage, noPage, openHead, pageHeaderBytes, type LmdbHead, type LmdbTree } from './lmdb-file.js';
import { LmdbPageUses } from './lmdb-page-uses.js';

const branchFlag = 1;
const leafFlag = 2;
const overflowFlag = 4;
/** The flags that say what a page is; higher ones only count in memory. */
const kindMask = 0x7f;
const nodeHeaderBytes = 8;
const bigDataFlag = 1;

/** What the walk has still to visit: a page, and how many levels there are from it down to the leaves, which are level 1. */
interface Visit {
  page: number;
  level: number;
  /** Its keys are not before the first of these, and before the second: else LMDB would not be led to it for them. */
  from: Buffer | undefined;
  to: Buffer | undefined;
}

interface Counts {
  branches: number;
  leaves: number;
  overflows: number;
  entries: number;
}

/** What is wrong with a file, as the end of a sentence that begins with its name. Looks at every page, and at free ones too. */
export function lmdbProblem(file: string): string | undefined {
  return problemOf(file, (fd, head) => {
    for (const page of walkPages(fd, head, new LmdbPageUses(head.lastPage))) void page;
  });
}

/**
 * The same before a store is opened: looks at what can be looked at within a slice of time, the upper pages first,
 * but always at the head and the length of the file.
 */
export function lmdbProblemWithin(file: string, slice: TimeSlice): string | undefined {
  return problemOf(file, (fd, head) => {
    // LMDB does not write free pages at the end: whether others are missing, only all pages tell.
    const isShort = head.fileBytes < (head.lastPage + 1) * head.pageBytes;
    for (const page of walkPages(fd, head)) if (!isShort && slice.isOver) return page;
  });
}

function problemOf(file: string, look: (fd: number, head: LmdbHead) => void): string | undefined {
  try {
    const fd = fs.openSync(file, 'r');
    try {
      const head = openHead(fd);
      if (head !== undefined) look(fd, head);
    } finally {
      fs.closeSync(fd);
    }
    return undefined;
  } catch (error) {
    if (error instanceof LmdbDamage) return error.message;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'is missing';
    if (code !== undefined) return `cannot be read: ${(error as Error).message}`;
    throw error;
  }
}

/**
 * Walks over the pages of both trees of an LMDB file, the upper ones first, and throws `LmdbDamage` at the first that
 * LMDB could not read. Bytes within values are not looked at: nothing tells what they should be. Yields after each page,
 * so that a caller with little time may stop; only a walk that was carried through proves that all pages are there.
 * The file must not be written meanwhile.
 */
function* walkPages(fd: number, head: LmdbHead, uses?: LmdbPageUses): Generator<void> {
  const walk = new PageWalk(fd, head, uses);
  yield* walk.tree(head.free, true);
  yield* walk.tree(head.main, false);
}

class PageWalk {
  readonly #bytes: Buffer;

  constructor(
    private readonly fd: number,
    private readonly head: LmdbHead,
    /** Where it is looked, too, whether free pages are free. */
    private readonly uses: LmdbPageUses | undefined,
  ) {
    this.#bytes = Buffer.alloc(head.pageBytes);
  }

  *tree(tree: LmdbTree, isFree: boolean): Generator<void> {
    const counts: Counts = { branches: 0, leaves: 0, overflows: 0, entries: 0 };
    const { lastPage } = this.head;
    const visits: Visit[] =
      tree.root === noPage ? [] : [{ page: tree.root, level: tree.depth, from: undefined, to: undefined }];
    // What is found grows while it is gone through; a tree with a circle in it soon has too many pages.
    for (const visit of visits) {
      if (visits.length > lastPage) throw new LmdbDamage('is damaged: a page is part of itself');
      this.uses?.note(visit.page);
      if (visit.level > 1) this.#branch(visit, counts, visits, isFree);
      else this.#leaf(visit, counts, isFree);
      yield;
    }
    const { branches, leaves, overflows, entries } = counts;
    const isComplete =
      branches === tree.branchPages &&
      leaves === tree.leafPages &&
      overflows === tree.overflowPages &&
      entries === tree.entries;
    if (!isComplete && tree.root !== noPage) throw new LmdbDamage('is damaged: pages or entries are missing');
  }

  #branch(visit: Visit, counts: Counts, visits: Visit[], isFree: boolean): void {
    const { page, level } = visit;
    const bytes = this.#read(page, branchFlag);
    counts.branches++;
    let last: Visit | undefined;
    for (const at of this.#nodes(visit, !isFree, 1)) {
      const child = bytes.readUIntLE(at, 6);
      this.#checkNumber(page, child, 1);
      // The bytes of this page are replaced by those of the next.
      const from = last === undefined || isFree ? visit.from : Buffer.from(this.#key(at));
      if (last !== undefined) last.to = from;
      last = { page: child, level: level - 1, from, to: visit.to };
      visits.push(last);
    }
  }

  #leaf(visit: Visit, counts: Counts, isFree: boolean): void {
    const { page } = visit;
    const bytes = this.#read(page, leafFlag);
    counts.leaves++;
    for (const at of this.#nodes(visit, !isFree, 0)) {
      counts.entries++;
      const flags = bytes.readUInt16LE(at + 4);
      const valueAt = at + nodeHeaderBytes + bytes.readUInt16LE(at + 6);
      const length = bytes.readUInt32LE(at);
      const isBig = flags === bigDataFlag;
      if (!isBig && flags !== 0) throw damaged(page);
      if (valueAt + (isBig ? 24 : length) > bytes.length) throw damaged(page);
      const place = isBig ? this.#overflow(page, valueAt, length) : undefined;
      counts.overflows += place?.pages ?? 0;
      if (isFree) this.uses?.noteFree(this.#value(valueAt, length, place?.first));
    }
  }

  #value(at: number, length: number, page: number | undefined): Buffer {
    if (page === undefined) return this.#bytes.subarray(at, at + length);
    const bytes = Buffer.alloc(length);
    this.#fill(bytes, page, pageHeaderBytes);
    return bytes;
  }

  /** The pages of a value that does not fit a leaf; only the first has a header. */
  #overflow(leaf: number, at: number, length: number): { first: number; pages: number } {
    const first = Number(this.#bytes.readBigUInt64LE(at));
    const pages = Number(this.#bytes.readBigUInt64LE(at + 16));
    this.#checkNumber(leaf, first, pages);
    const header = Buffer.alloc(pageHeaderBytes);
    this.#fill(header, first);
    const isOurs =
      header.readUIntLE(0, 6) === first &&
      (header.readUInt16LE(18) & kindMask) === overflowFlag &&
      pageHeaderBytes + length <= pages * this.head.pageBytes;
    if (!isOurs) throw damaged(first);
    this.uses?.note(first, pages);
    return { first, pages };
  }

  #read(page: number, kind: number): Buffer {
    const bytes = this.#bytes;
    this.#fill(bytes, page);
    const lower = bytes.readUInt16LE(20);
    const upper = bytes.readUInt16LE(22);
    const isSound =
      bytes.readUIntLE(0, 6) === page &&
      (bytes.readUInt16LE(18) & kindMask) === kind &&
      lower <= upper &&
      lower % 2 === 0 &&
      upper <= bytes.length - pageHeaderBytes;
    if (!isSound) throw damaged(page);
    return bytes;
  }

  /** Where the nodes of the page that was read begin. The key of a branch's first node is not used. */
  *#nodes({ page, from, to }: Visit, ordered: boolean, firstKey: number): Generator<number> {
    const bytes = this.#bytes;
    const upper = bytes.readUInt16LE(22);
    const count = bytes.readUInt16LE(20) / 2;
    if (count < firstKey) throw damaged(page);
    let before: Buffer | undefined;
    for (let n = 0; n < count; n++) {
      const offset = bytes.readUInt16LE(pageHeaderBytes + 2 * n);
      const at = pageHeaderBytes + offset;
      if (offset < upper || at + nodeHeaderBytes > bytes.length) throw damaged(page);
      if (at + nodeHeaderBytes + bytes.readUInt16LE(at + 6) > bytes.length) throw damaged(page);
      if (ordered && n >= firstKey) {
        const key = this.#key(at);
        const isInPlace = before === undefined ? !from || from.compare(key) <= 0 : before.compare(key) < 0;
        if (!isInPlace) throw damaged(page);
        before = key;
      }
      yield at;
    }
    if (before !== undefined && to !== undefined && before.compare(to) >= 0) throw damaged(page);
  }

  /** The key of a node, valid until the next page is read. */
  #key(at: number): Buffer {
    const keyAt = at + nodeHeaderBytes;
    return this.#bytes.subarray(keyAt, keyAt + this.#bytes.readUInt16LE(at + 6));
  }

  #checkNumber(from: number, page: number, pages: number): void {
    if (page < 2 || pages < 1 || page + pages - 1 > this.head.lastPage) throw damaged(from);
    if ((page + pages) * this.head.pageBytes > this.head.fileBytes)
      throw new LmdbDamage('is cut short: pages are missing at its end');
  }

  #fill(bytes: Buffer, page: number, offset = 0): void {
    const read = fs.readSync(this.fd, bytes, 0, bytes.length, page * this.head.pageBytes + offset);
    if (read < bytes.length) throw new LmdbDamage('is cut short: pages are missing at its end');
  }
}

const damaged = (page: number): LmdbDamage =>
  new LmdbDamage(`is damaged: its page ${page} is not as it should be`);
