import { LmdbDamage, metaPages } from './lmdb-file.js';

const entryBytes = 8;

/**
 * Which pages of a file are in use, by a tree or as free ones: none may be twice. A page in use that is taken for a free one
 * would be overwritten by one of the next writes. Pages that are neither are lost, which does no harm.
 */
export class LmdbPageUses {
  /** A bit for each page. */
  readonly #used: Uint8Array;

  constructor(private readonly lastPage: number) {
    this.#used = new Uint8Array(Math.ceil((lastPage + 1) / 8));
  }

  note(first: number, pages = 1): void {
    if (first < metaPages || first + pages - 1 > this.lastPage)
      throw new LmdbDamage(`is damaged: it has no page ${first}`);
    for (let page = first; page < first + pages; page++) {
      const bit = 1 << (page & 7);
      if ((this.#used[page >> 3]! & bit) !== 0)
        throw new LmdbDamage(`is damaged: its page ${page} is in use twice`);
      this.#used[page >> 3]! |= bit;
    }
  }

  /**
   * Notes the pages of a list of free ones: how many entries it has, and these. A negative one tells how many pages begin
   * with that of the next entry; 0 is none.
   */
  noteFree(list: Buffer): void {
    const count = list.length < entryBytes ? Infinity : Number(list.readBigInt64LE(0));
    if (count < 0 || (count + 1) * entryBytes > list.length)
      throw new LmdbDamage('is damaged: a list of its free pages is cut short');
    let pages = 1;
    for (let n = 1; n <= count; n++) {
      const entry = Number(list.readBigInt64LE(n * entryBytes));
      if (entry < 0) pages = -entry;
      if (entry <= 0) continue;
      this.note(entry, pages);
      pages = 1;
    }
  }
}
