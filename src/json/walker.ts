/**
 * The one pass over a JSON text.
 *
 * Documents are stored as they came in, so nothing here builds values: the walker goes over the bytes, proves that they
 * are JSON (RFC 8259), and notes what keeps a text from being stored as a plain slice of the request:
 *
 * - `spaced`: it holds white space between tokens, which storage leaves out;
 * - `unsettled`: it may hold an object with two members of one name.
 *
 * Three rules keep it fast and safe:
 *
 * - That the bytes are UTF-8 is checked by the caller, once, by native code. Every byte with a meaning in JSON is ASCII,
 *   and in valid UTF-8 such a byte is never a part of another character, so the walker never decodes.
 * - Two members of one name are looked for by hash. `unsettled` means "two hashes are equal", not "two names are": the
 *   slow path (`settle.ts`) compares the names themselves, so a collision costs time and never a member. Nor can chosen
 *   names make the search slow: small objects are compared pair by pair, large ones by sorting.
 * - Nesting is kept on a bounded stack of its own, so no text can exhaust the stack of the process.
 *
 * One walker serves a whole thread, since a walk is synchronous and has no callbacks; its arrays are reused. Offsets in
 * hot loops are compared with `end` before each look: a look behind the end of a buffer gives `undefined`, after which
 * V8 keeps slower code permanently.
 */
import { badRequest, invalidJson } from '../base/errors.js';
import { NameHashes } from './name-hashes.js';
import { bytesBefore, hashSeed, hashStep, hashText, stopsIn } from './words.js';
import { escapeEnd, literalEnd, numberEnd, stringPartEnd } from './tokens.js';
import { decodeString } from './text.js';

/** Objects and arrays within one another, the outermost included. */
export const jsonDepthMax = 1_000;

export const spaced = 1;
export const unsettled = 2;

/** What `value` and `resume` give where they have paused. */
export const paused = -1;

/** Behind the end of any text; a small integer, with which offsets are compared fastest. */
const nowhere = 2 ** 31 - 1;
const inArray = -1;
const noBytes = Buffer.alloc(0);
const noView = new DataView(noBytes.buffer, 0, 0);

/** Before what a walk has paused: a value, the rest of a string, or the comparison of the names of an object that ends there. */
interface Pause {
  at: number;
  depth: number;
  base: number;
  before: 'value' | 'rest' | 'close';
}

export class Walker {
  bytes: Buffer = noBytes;
  /** The same bytes, to be read four at a time. */
  view: DataView = noView;
  end = 0;
  flags = 0;
  /** Where a walk through a container pauses; there is always a value before it. */
  pauseAt = nowhere;
  /** Whether a walk also pauses within strings, and where the names of a large object are to be compared. */
  pausesInside = false;
  /** Where the last walk has paused, with so many containers open. */
  private pause: Pause = { at: 0, depth: 0, base: inArray, before: 'value' };
  /** The name of the last key where it was written with an escape. */
  escapedName: string | undefined;
  private readonly names = new NameHashes();
  /** For each open container of `value` where its names begin, or `inArray`. */
  private readonly frames = new Int32Array(jsonDepthMax);

  /** Takes the text `bytes[start, end)`; after the walk `finish` must follow, or the buffer stays in memory. */
  begin(bytes: Buffer, start: number, end: number): number {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.end = end;
    this.flags = 0;
    this.pauseAt = nowhere;
    this.pausesInside = false;
    return this.space(start);
  }

  finish(): void {
    this.bytes = noBytes;
    this.view = noView;
    this.escapedName = undefined;
    this.names.clear();
  }

  /** Forgets the containers that are open, for callers that do not go on with a walk. */
  abandon(): void {
    this.names.count = 0;
  }

  /** The byte at an offset, where the text must not end. */
  peek(at: number): number {
    if (at >= this.end) throw invalidJson();
    return this.bytes[at]!;
  }

  space(start: number): number {
    const { bytes, end } = this;
    if (start >= end || bytes[start]! > 0x20) return start;
    let at = start;
    while (at < end) {
      const byte = bytes[at]!;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
      at++;
    }
    this.flags |= spaced;
    return at;
  }

  /** Notes an object's beginning; what it gives is to be handed to `key` and `closeObject`. */
  openObject(): number {
    return this.names.count;
  }

  closeObject(base: number): void {
    if (this.names.close(base)) this.flags |= unsettled;
  }

  /** The same in small steps. */
  *closeInSteps(base: number): Generator<void> {
    if (yield* this.names.closeInSteps(base)) this.flags |= unsettled;
  }

  /**
   * A member's key: gives the offset behind its closing quote. In JSON three bytes at least follow a key, so a word that
   * does not fit into the text means that the text is cut off.
   */
  key(start: number, base: number): number {
    const { bytes, view } = this;
    const lastWord = this.end - 4;
    if (start > lastWord || bytes[start] !== 0x22) throw invalidJson();
    let hash = hashSeed;
    let at = start + 1;
    while (at <= lastWord) {
      const word = view.getInt32(at, true);
      const stops = stopsIn(word);
      if (stops === 0) {
        hash = hashStep(hash, word);
        at += 4;
        continue;
      }
      const plain_bytes = bytesBefore(stops);
      at += plain_bytes;
      const stop = bytes[at]!;
      if (stop === 0x5c) return this.escapedKey(start, at, base);
      if (stop !== 0x22) throw invalidJson();
      if (plain_bytes > 0) hash = hashStep(hash, word & ((1 << (plain_bytes * 8)) - 1));
      this.escapedName = undefined;
      if (this.names.add(hash, base)) this.flags |= unsettled;
      return at + 1;
    }
    throw invalidJson();
  }

  /** Names are compared as they read, however they are written. */
  private escapedKey(start: number, escape: number, base: number): number {
    const keyEnd = this.stringRest(escape);
    this.escapedName = decodeString(this.bytes, start, keyEnd);
    if (this.names.add(hashText(this.escapedName), base)) this.flags |= unsettled;
    return keyEnd;
  }

  /** From behind a key to its value. */
  colon(start: number): number {
    const { bytes, end } = this;
    let at = start;
    if (at < end && bytes[at]! <= 0x20) at = this.space(at);
    if (at >= end || bytes[at] !== 0x3a) throw invalidJson();
    at++;
    return at < end && bytes[at]! <= 0x20 ? this.space(at) : at;
  }

  /** Any value; `outerDepth` containers are open around it. Gives `paused` where it comes to `pauseAt`. */
  value(at: number, outerDepth: number): number {
    const byte = this.peek(at);
    if (byte === 0x7b || byte === 0x5b) return this.container(at, outerDepth, 0, inArray, false);
    if (byte !== 0x22 || !this.pausesInside) return this.scalar(at, byte);
    const stringEnd = this.stringPart(at + 1);
    return stringEnd >= 0 ? stringEnd : this.pauseBefore('rest', ~stringEnd, 0, inArray);
  }

  /** What is to be done before a value that has paused can be resumed. */
  *untilResume(): Generator<void> {
    const { before, base } = this.pause;
    if (before === 'close') yield* this.closeInSteps(base);
  }

  /** Goes on with a value that has paused. */
  resume(outerDepth: number): number {
    const { at, depth, base, before } = this.pause;
    if (before === 'value') return this.container(at, outerDepth, depth, base, false);
    if (before === 'close') {
      const outerBase = this.frames[depth - 1]!;
      return depth === 1 ? at : this.container(at, outerDepth, depth - 1, outerBase, true);
    }
    const stringEnd = this.stringPart(at);
    if (stringEnd < 0) return this.pauseBefore('rest', ~stringEnd, depth, base);
    return depth === 0 ? stringEnd : this.container(stringEnd, outerDepth, depth, base, true);
  }

  private pauseBefore(before: Pause['before'], at: number, depth: number, base: number): number {
    this.pause = { at, depth, base, before };
    return paused;
  }

  private scalar(at: number, byte: number): number {
    if (byte === 0x22) return this.stringRest(at + 1);
    if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) return numberEnd(this.bytes, at, this.end);
    return literalEnd(this.bytes, at, this.end);
  }

  /** From anywhere within a string to behind its closing quote. */
  private stringRest(start: number): number {
    const { bytes, end, view } = this;
    const lastWord = end - 4;
    let at = start;
    while (at < end) {
      let stops = 0;
      while (at <= lastWord && (stops = stopsIn(view.getInt32(at, true))) === 0) at += 4;
      if (stops !== 0) at += bytesBefore(stops);
      else if (at >= end) break;
      const byte = bytes[at]!;
      if (byte === 0x22) return at + 1;
      if (byte === 0x5c) at = escapeEnd(bytes, at, end);
      else if (byte < 0x20) throw invalidJson();
      else at++;
    }
    throw invalidJson();
  }

  private stringPart(start: number): number {
    return stringPartEnd(this, start, this.pauseAt);
  }

  /**
   * An object or an array with all that is in it. Each turn of the outer loop takes one value; the inner one takes what
   * follows a value: the ends of containers, then the comma and, in an object, the next key. `isBehind`: a value comes
   * before the start.
   */
  private container(
    start: number,
    outerDepth: number,
    openDepth: number,
    openBase: number,
    isBehind: boolean,
  ): number {
    const { bytes, end, frames, pausesInside } = this;
    const pauseAt = Math.min(end, this.pauseAt);
    let valueFollows = !isBehind;
    let depth = openDepth;
    let base = openBase;
    let at = start;
    for (;;) {
      if (valueFollows) {
        if (at >= pauseAt) {
          if (at >= end) throw invalidJson();
          return this.pauseBefore('value', at, depth, base);
        }
        valueFollows = false;
        const byte = bytes[at]!;
        if (byte === 0x22) {
          if (!pausesInside) at = this.stringRest(at + 1);
          else if ((at = this.stringPart(at + 1)) < 0) return this.pauseBefore('rest', ~at, depth, base);
        } else if (byte === 0x7b || byte === 0x5b) {
          if (outerDepth + depth >= jsonDepthMax) throw tooDeep();
          frames[depth++] = base;
          base = byte === 0x7b ? this.openObject() : inArray;
          at = this.space(at + 1);
          valueFollows = this.peek(at) !== byte + 2;
          if (valueFollows && base !== inArray) at = this.colon(this.key(at, base));
        } else {
          at = this.scalar(at, byte);
        }
      }
      while (!valueFollows) {
        if (at < end && bytes[at]! <= 0x20) at = this.space(at);
        if (at >= end) throw invalidJson();
        const next = bytes[at++]!;
        if (next === 0x2c) {
          if (at < end && bytes[at]! <= 0x20) at = this.space(at);
          if (base !== inArray) at = this.colon(this.key(at, base));
          valueFollows = true;
        } else if (next === (base === inArray ? 0x5d : 0x7d)) {
          if (base !== inArray) {
            if (pausesInside && this.names.hasMany(base)) return this.pauseBefore('close', at, depth, base);
            this.closeObject(base);
          }
          base = frames[--depth]!;
          if (depth === 0) return at;
        } else throw invalidJson();
      }
    }
  }
}

export const tooDeep = () => badRequest(`JSON nested deeper than ${jsonDepthMax} levels`);
