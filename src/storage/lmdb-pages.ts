import fs from 'node:fs';
import type { TimeSlice } from '../base/turns.js';
import { LmdbDamage, noPage, openHead, pageHeaderBytes, type LmdbHead, type LmdbTree } from './lmdb-file.js';

const branchFlag = 1;
const leafFlag = 2;
const overflowFlag = 4;
/** The flags that say what a page is; higher ones only count in memory. */
const kindMask = 0x7f;
const nodeHeaderBytes = 8;
const bigDataFlag = 1;

/** What the walk has still to visit: pages, and how many levels are below each, the leaves being level 1. */
interface Visit {
  page: number;
  level: number;
}

interface Counts {
  branches: number;
  leaves: number;
  overflows: number;
  entries: number;
}

/** What is wrong with a file, as the end of a sentence that begins with its name. Looks at every page. */
export function lmdbProblem(file: string): string | undefined {
  return problemOf(file, (fd, head) => {
    for (const page of walkPages(fd, head)) void page;
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
function* walkPages(fd: number, head: LmdbHead): Generator<void> {
  const walk = new PageWalk(fd, head);
  yield* walk.tree(head.free, false);
  yield* walk.tree(head.main, true);
}

class PageWalk {
  readonly #bytes: Buffer;

  constructor(
    private readonly fd: number,
    private readonly head: LmdbHead,
  ) {
    this.#bytes = Buffer.alloc(head.pageBytes);
  }

  *tree(tree: LmdbTree, ordered: boolean): Generator<void> {
    const counts: Counts = { branches: 0, leaves: 0, overflows: 0, entries: 0 };
    const { lastPage } = this.head;
    const visits: Visit[] = tree.root === noPage ? [] : [{ page: tree.root, level: tree.depth }];
    // What is found grows while it is gone through; a tree with a circle in it soon has too many pages.
    for (const { page, level } of visits) {
      if (visits.length > lastPage) throw new LmdbDamage('is damaged: a page is part of itself');
      if (level > 1) this.#branch(page, level, counts, visits, ordered);
      else this.#leaf(page, counts, ordered);
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

  #branch(page: number, level: number, counts: Counts, visits: Visit[], ordered: boolean): void {
    const bytes = this.#read(page, branchFlag);
    counts.branches++;
    for (const at of this.#nodes(page, ordered, 1)) {
      const child = bytes.readUIntLE(at, 6);
      this.#checkNumber(page, child, 1);
      visits.push({ page: child, level: level - 1 });
    }
  }

  #leaf(page: number, counts: Counts, ordered: boolean): void {
    const bytes = this.#read(page, leafFlag);
    counts.leaves++;
    for (const at of this.#nodes(page, ordered, 0)) {
      counts.entries++;
      const flags = bytes.readUInt16LE(at + 4);
      const valueAt = at + nodeHeaderBytes + bytes.readUInt16LE(at + 6);
      const length = bytes.readUInt32LE(at);
      const isBig = flags === bigDataFlag;
      if (!isBig && flags !== 0) throw damaged(page);
      if (valueAt + (isBig ? 24 : length) > bytes.length) throw damaged(page);
      if (isBig) counts.overflows += this.#overflow(page, valueAt, length);
    }
  }

  /** The pages of a value that does not fit a leaf; only the first has a header. */
  #overflow(leaf: number, at: number, length: number): number {
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
    return pages;
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
  *#nodes(page: number, ordered: boolean, firstKey: number): Generator<number> {
    const bytes = this.#bytes;
    const upper = bytes.readUInt16LE(22);
    const count = bytes.readUInt16LE(20) / 2;
    if (count < firstKey) throw damaged(page);
    let before: Buffer | undefined;
    for (let n = 0; n < count; n++) {
      const offset = bytes.readUInt16LE(pageHeaderBytes + 2 * n);
      const at = pageHeaderBytes + offset;
      if (offset < upper || at + nodeHeaderBytes > bytes.length) throw damaged(page);
      const keyAt = at + nodeHeaderBytes;
      const keyEnd = keyAt + bytes.readUInt16LE(at + 6);
      if (keyEnd > bytes.length) throw damaged(page);
      const key = bytes.subarray(keyAt, keyEnd);
      if (ordered && before !== undefined && before.compare(key) >= 0) throw damaged(page);
      if (n >= firstKey) before = key;
      yield at;
    }
  }

  #checkNumber(from: number, page: number, pages: number): void {
    if (page < 2 || pages < 1 || page + pages - 1 > this.head.lastPage) throw damaged(from);
    if ((page + pages) * this.head.pageBytes > this.head.fileBytes)
      throw new LmdbDamage('is cut short: pages are missing at its end');
  }

  #fill(bytes: Buffer, page: number): void {
    const read = fs.readSync(this.fd, bytes, 0, bytes.length, page * this.head.pageBytes);
    if (read < bytes.length) throw new LmdbDamage('is cut short: pages are missing at its end');
  }
}

const damaged = (page: number): LmdbDamage =>
  new LmdbDamage(`is damaged: its page ${page} is not as it should be`);
