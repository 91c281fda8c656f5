import { boostBit, onceBit, type Block, type BlockWriter } from '../search/posting-block.js';

/** Bits of a head that are its flags. */
export const headShift = 2;

export class LogReader {
  at = 0;

  constructor(readonly log: Uint8Array) {}

  number(): number {
    let byte = this.log[this.at++]!;
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = this.log[this.at++]!;
      value |= (byte & 0x7f) << shift;
    }
    return value >>> 0;
  }

  /** All of a posting but its term. */
  skip(): void {
    const head = this.number();
    this.at += head >>> headShift;
  }
}

/** A log put in order. */
export class SortedLog {
  readonly #reader: LogReader;

  constructor(
    log: Uint8Array,
    private readonly starts: Uint32Array,
    private readonly places: Uint32Array,
    private readonly docs: Uint32Array,
    private readonly isInOrder: boolean,
    /** Whether all documents count. */
    private readonly isWhole: boolean,
  ) {
    this.#reader = new LogReader(log);
  }

  /** Where the postings of a term stand, in the order of their documents, without those that don't count. */
  slots(term: number): number[] {
    const slots: number[] = [];
    for (let slot = this.starts[term]!; slot < this.starts[term + 1]!; slot++)
      if (this.docs[slot] !== 0) slots.push(slot);
    return this.isInOrder ? slots : slots.sort((a, b) => this.docs[a]! - this.docs[b]!);
  }

  /** The same as the first slot and the one behind the last, where all documents count and are in order. */
  run(term: number): readonly [from: number, to: number] | undefined {
    return this.isInOrder && this.isWhole ? [this.starts[term]!, this.starts[term + 1]!] : undefined;
  }

  doc(slot: number): number {
    return this.docs[slot]!;
  }

  /** Writes a posting; gives the block before where it is full. */
  write(slot: number, writer: BlockWriter): Block | undefined {
    const reader = this.#reader;
    reader.at = this.places[slot]!;
    const head = reader.number();
    const from = reader.at;
    const flags = head & (onceBit | boostBit);
    return writer.put(this.docs[slot]!, flags, reader.log, from, from + (head >>> headShift));
  }
}
