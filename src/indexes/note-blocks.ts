import { asBytes, ByteReader, noBytes, varint, type Bytes } from '../base/bytes.js';
import { prefixEnd, type Store, type Write } from '../storage/store.js';
import { decoding } from './index-damage.js';

/** Reads and changes what an index notes of documents, in the order of their keys. */
export interface Notes {
  /** The note of a document; none that was asked for or changed before has a higher key. */
  get(key: Bytes): Bytes | undefined;
  /** Notes something of a document, or nothing. */
  set(key: Bytes, note: Bytes | undefined): void;
  /** What is to be written. It ends the changes. */
  finish(): readonly Write[];
}

/** A record for each document: indexes that earlier versions have begun have these. */
export class SingleNotes implements Notes {
  readonly #writes: Write[] = [];

  constructor(
    private readonly store: Pick<Store, 'get'>,
    private readonly prefix: Bytes,
  ) {}

  get(key: Bytes): Bytes | undefined {
    return this.store.get(asBytes(this.prefix + key));
  }

  set(key: Bytes, note: Bytes | undefined): void {
    this.#writes.push({ key: asBytes(this.prefix + key), value: note });
  }

  finish(): readonly Write[] {
    return this.#writes;
  }
}

/** A block that grows beyond this is divided, into blocks of about `filledBytes`, of which a page of LMDB holds three. */
const blockBytesMax = 1_920;
const filledBytes = 1_280;

/** A stored block. */
interface Block {
  readonly record: Bytes;
  /** The record behind it. */
  readonly next: Bytes;
  readonly text: Bytes;
  /** The keys of its documents, where their entries end, and where the notes in them begin. */
  readonly keys: readonly Bytes[];
  readonly noteStarts: readonly number[];
  readonly ends: readonly number[];
}

/** A block that is to be stored. */
interface Piece {
  readonly record: Bytes;
  text: string;
}

/**
 * Many notes in a record: to LMDB and to all that stands before it, a record of thirty bytes is as much work as one of two
 * thousand, and notes would be most of what a build writes.
 *
 * A block has the notes of all documents from its own key on to that of the next block. The first one has the lowest key there
 * is, so that every document belongs to a block. LMDB finds them: they are the leaves of a tree of which it has the rest.
 */
export class NoteBlocks implements Notes {
  readonly #writes: Write[] = [];
  readonly #behindAll: Bytes;
  /** The block that is read and changed, and how many of its entries have been passed. */
  #block: Block | undefined;
  #passed = 0;
  #isChanged = false;
  /** What becomes of it. */
  #pieces: Piece[] = [];

  constructor(
    private readonly store: Pick<Store, 'list'>,
    private readonly prefix: Bytes,
  ) {
    this.#behindAll = prefixEnd(prefix);
  }

  get(key: Bytes): Bytes | undefined {
    const block = this.#moveTo(key);
    if (block.keys[this.#passed] !== key) return undefined;
    return block.text.slice(block.noteStarts[this.#passed], block.ends[this.#passed]);
  }

  set(key: Bytes, note: Bytes | undefined): void {
    const block = this.#moveTo(key);
    if (block.keys[this.#passed] === key) this.#passed++;
    if (note !== undefined) this.#put(key, asBytes(varint(key.length) + varint(note.length) + key + note));
    this.#isChanged = true;
  }

  finish(): readonly Write[] {
    this.#close();
    return this.#writes;
  }

  /** Opens the block of a document, and keeps all entries before that of the document. */
  #moveTo(key: Bytes): Block {
    let block = this.#block;
    if (block === undefined || this.prefix + key >= block.next) {
      this.#close();
      block = this.#block = this.#open(asBytes(this.prefix + key));
    }
    while (this.#passed < block.keys.length && block.keys[this.#passed]! < key) this.#keepEntry(block);
    return block;
  }

  #open(record: Bytes): Block {
    const behind = asBytes(`${record}\0`);
    const [found] = this.store.list({ start: this.prefix, end: behind, reverse: true, limit: 1 }, Infinity);
    const [next] = this.store.list({ start: behind, end: this.#behindAll, limit: 1, headBytes: 0 }, Infinity);
    return readBlock(found?.key ?? this.prefix, next?.key ?? this.#behindAll, found?.value ?? noBytes);
  }

  #keepEntry({ keys, ends, text }: Block): void {
    const at = this.#passed++;
    this.#put(keys[at]!, text.slice(at === 0 ? 0 : ends[at - 1], ends[at]));
  }

  #put(key: Bytes, entry: Bytes): void {
    const last = this.#pieces.at(-1);
    if (last !== undefined && last.text.length + entry.length <= filledBytes) {
      last.text += entry;
      return;
    }
    // Looking at a character makes one string of the many that the text was put together from, and sets those free.
    last?.text.charCodeAt(0);
    const record = last === undefined ? this.#block!.record : asBytes(this.prefix + key);
    this.#pieces.push({ record, text: entry });
  }

  #close(): void {
    const block = this.#block;
    if (block !== undefined && this.#isChanged) {
      while (this.#passed < block.keys.length) this.#keepEntry(block);
      const pieces = this.#pieces;
      const [before, last] = pieces.slice(-2);
      if (last !== undefined && before!.text.length + last.text.length <= blockBytesMax) {
        before!.text += last.text;
        pieces.pop();
      }
      if (pieces.length === 0 && block.text !== '')
        this.#writes.push({ key: block.record, value: undefined });
      for (const { record, text } of pieces) this.#writes.push({ key: record, value: asBytes(text) });
    }
    this.#block = undefined;
    this.#passed = 0;
    this.#isChanged = false;
    this.#pieces = [];
  }
}

/** Reads `{ length of the key, length of the note, key, note }…` */
function readBlock(record: Bytes, next: Bytes, text: Bytes): Block {
  const keys: Bytes[] = [];
  const noteStarts: number[] = [];
  const ends: number[] = [];
  decoding(() => {
    const reader = new ByteReader(text);
    while (!reader.done) {
      const keyBytes = reader.varint();
      const noteBytes = reader.varint();
      keys.push(reader.take(keyBytes));
      noteStarts.push(reader.at);
      reader.take(noteBytes);
      ends.push(reader.at);
    }
  });
  return { record, next, text, keys, noteStarts, ends };
}
