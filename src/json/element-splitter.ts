import { badRequest, invalidJson } from '../base/errors.js';

/**
 * Takes the text of a JSON object piece by piece and gives out the elements of one of its arrays, one by one, so that
 * a body of any length needs memory only for its largest element. One that lies in a single piece is given out as a
 * view of it, to be read before that changes.
 *
 * It looks at nothing but quotes, brackets and commas. What remains of the text when each element is replaced by a 0,
 * the skeleton, is small: checking the elements and the skeleton as JSON checks the whole.
 */
export class ElementSplitter {
  /** Gathered as text and put away in pieces: small buffers would keep whole slabs of the pool alive. */
  #skeleton: Buffer[] = [];
  #skeletonTail = '';
  #skeletonBytes = 0;
  /** Parts of the element under way. */
  #element: Buffer[] = [];
  #elementBytes = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #inArray = false;
  #seenArray = false;
  /** The string at depth 1 that began last, if it has ended: perhaps the name of the array. */
  #name = '';
  #nameParts: Buffer[] | undefined;

  constructor(
    private readonly arrayMember: string,
    private readonly elementBytesMax: number,
    private readonly tooLarge: () => Error,
    private readonly onElement: (bytes: Buffer) => void,
    /**
     * Is offered each line of the array that looks like one element with its comma, before its bytes are looked at, and tells
     * whether it is one. Servers write lists of documents so, and a line is found much faster than a bracket.
     */
    private readonly takeLine?: (line: Buffer) => boolean,
  ) {}

  write(chunk: Buffer): void {
    let from = this.#inArray && this.#depth === 2 && this.#element.length === 0 ? this.#lines(chunk, 0) : 0;
    // Most bytes are passed over in two short loops: this is done to every byte of a bulk request.
    for (let i = from; i < chunk.length; i++) {
      if (this.#inString) i = this.#skipString(chunk, i);
      while (i < chunk.length && !isMark[chunk[i]!]) i++;
      if (i >= chunk.length) break;
      const byte = chunk[i]!;
      switch (byte) {
        case quote:
          this.#inString = true;
          if (this.#depth === 1) this.#beginName(i);
          break;
        case openBracket:
        case openBrace:
          this.#depth++;
          if (this.#depth === 2 && byte === openBracket && this.#name === this.arrayMember) {
            if (this.#seenArray) throw badRequest(`\`${this.arrayMember}\` is given twice.`);
            this.#keep(chunk, from, i + 1);
            this.#inArray = this.#seenArray = true;
            from = this.#lines(chunk, i + 1);
            i = from - 1;
          }
          break;
        case closeBracket:
        case closeBrace:
          if (this.#inArray && this.#depth === 2) {
            this.#endElement(chunk, from, i);
            this.#inArray = false;
            from = i;
          }
          this.#depth--;
          break;
        case comma:
          if (this.#inArray && this.#depth === 2) {
            this.#endElement(chunk, from, i);
            this.#keep(chunk, i, i + 1);
            from = this.#lines(chunk, i + 1);
            i = from - 1;
          }
          break;
      }
    }
    this.#carry(chunk, from);
  }

  /**
   * Passes over elements that are lines of their own: gives where the first begins that is not. There are no line breaks in the
   * strings of JSON.
   */
  #lines(chunk: Buffer, from: number): number {
    if (this.takeLine === undefined) return from;
    let at = from;
    for (;;) {
      const start = chunk[at] === lineFeed ? at + 1 : at;
      if (chunk[start] !== openBrace) return at;
      const end = chunk.indexOf(lineFeed, start) - 1;
      if (end < start || chunk[end] !== comma || chunk[end - 1] !== closeBrace) return at;
      if (end - start > this.elementBytesMax || !this.takeLine(chunk.subarray(start, end))) return at;
      this.#keep(zeroAndComma, 0, 2);
      at = end + 1;
    }
  }

  /** Where the string under way has ended: behind its last quote, or at the end of the chunk. */
  #skipString(chunk: Buffer, from: number): number {
    let i = from;
    if (this.#escaped) {
      this.#escaped = false;
      i++;
    }
    for (; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (byte === quote) {
        this.#inString = false;
        this.#endName(chunk, i);
        return i + 1;
      }
      if (byte === backslash && ++i === chunk.length) this.#escaped = true;
    }
    return i;
  }

  /** Bytes that are kept for later calls. */
  get heldBytes(): number {
    return this.#elementBytes + this.#skeletonBytes;
  }

  /** The text without the elements. Still to be checked. */
  end(): Buffer {
    if (this.#inString || this.#inArray || this.#depth !== 0) throw invalidJson();
    return Buffer.concat([...this.#skeleton, Buffer.from(this.#skeletonTail, 'latin1')]);
  }

  #beginName(at: number): void {
    this.#nameParts = [];
    this.#nameStart = at;
  }

  #nameStart = 0;

  #endName(chunk: Buffer, at: number): void {
    if (this.#nameParts === undefined) return;
    const text = Buffer.concat([...this.#nameParts, chunk.subarray(this.#nameStart, at + 1)]).toString();
    this.#nameParts = undefined;
    try {
      this.#name = JSON.parse(text) as string;
    } catch {
      throw invalidJson();
    }
  }

  #carry(chunk: Buffer, from: number): void {
    if (this.#nameParts !== undefined) {
      this.#nameParts.push(Buffer.from(chunk.subarray(this.#nameStart)));
      this.#nameStart = 0;
    }
    if (this.#inArray) this.#grow(Buffer.from(chunk.subarray(from)));
    else this.#keep(chunk, from, chunk.length);
  }

  #grow(part: Buffer): void {
    if (part.length === 0) return;
    this.#elementBytes += part.length;
    if (this.#elementBytes > this.elementBytesMax) throw this.tooLarge();
    this.#element.push(part);
  }

  #endElement(chunk: Buffer, from: number, to: number): void {
    this.#grow(chunk.subarray(from, to));
    const bytes = this.#element.length === 1 ? this.#element[0]! : Buffer.concat(this.#element);
    this.#element = [];
    this.#elementBytes = 0;
    // Nothing between two commas is left as nothing, for the skeleton to be refused.
    if (isBlank(bytes)) return;
    this.#keep(zero, 0, 1);
    this.onElement(bytes);
  }

  #keep(chunk: Buffer, from: number, to: number): void {
    if (to === from) return;
    this.#skeletonBytes += to - from;
    if (this.#skeletonBytes > skeletonBytesMax) throw badRequest('There is too much beside the documents.');
    this.#skeletonTail += chunk.latin1Slice(from, to);
    if (this.#skeletonTail.length < pieceBytes) return;
    this.#skeleton.push(Buffer.from(this.#skeletonTail, 'latin1'));
    this.#skeletonTail = '';
  }
}

const pieceBytes = 16 * 1024;
const skeletonBytesMax = 16 * 1024 * 1024;
const zero = Buffer.from('0');
const zeroAndComma = Buffer.from('0,');
const lineFeed = 0x0a;
const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const comma = 0x2c;

/** By byte: whether it means something outside of strings. */
const isMark = new Uint8Array(256);
for (const byte of [quote, openBracket, closeBracket, openBrace, closeBrace, comma]) isMark[byte] = 1;

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes)
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false;
  return true;
}
