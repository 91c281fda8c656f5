/** Sets of characters, by code point: what a class, a dot or a single letter of a pattern takes. */

/** First and last code points of ranges, one after the other. */
export type Ranges = readonly (readonly [number, number])[];

const lastCodePoint = 0x10ffff;
/** Ranges up to this size are made to ignore case letter by letter; larger ones hold both cases anyway. */
const foldedMax = 2_000;
/** The same for all ranges of a class together. */
const classFoldedMax = 10_000;

export class CharSet {
  readonly #ascii = new Uint8Array(128);

  constructor(
    readonly ranges: Ranges,
    /** Unicode properties, as JavaScript writes them. */
    readonly properties: readonly string[] = [],
    readonly negated = false,
  ) {
    const tests = properties.map((property) => new RegExp(`^${property}$`, 'u'));
    this.#beyond = (code) =>
      (inRanges(ranges, code) || tests.some((test) => test.test(String.fromCodePoint(code)))) !== negated;
    for (let code = 0; code < 128; code++) this.#ascii[code] = this.#beyond(code) ? 1 : 0;
  }

  readonly #beyond: (code: number) => boolean;

  has(code: number): boolean {
    return code < 128 ? this.#ascii[code] === 1 : this.#beyond(code);
  }

  /** The same set as a class of JavaScript's. */
  get source(): string {
    const ranges = this.ranges.map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`);
    return `[${this.negated ? '^' : ''}${ranges.join('')}${this.properties.join('')}]`;
  }
}

function inRanges(ranges: Ranges, code: number): boolean {
  for (const [first, last] of ranges) if (code >= first && code <= last) return true;
  return false;
}

/** The ranges with the other case of every letter. */
export function ignoringCase(ranges: Ranges): Ranges {
  const folded = [...ranges];
  let letters = 0;
  for (const [first, last] of ranges) {
    if (last - first > foldedMax || (letters += last - first + 1) > classFoldedMax) continue;
    for (let code = first; code <= last; code++) {
      for (const other of otherCases(code)) folded.push([other, other]);
    }
  }
  return folded;
}

function otherCases(code: number): number[] {
  const letter = String.fromCodePoint(code);
  const upper = letter.toUpperCase();
  return [letter.toLowerCase(), upper, upper.toLowerCase()]
    .filter((other) => other !== letter && [...other].length === 1)
    .map((other) => other.codePointAt(0)!);
}

/** Everything outside the ranges. */
export function complement(ranges: Ranges): Ranges {
  const sorted = ranges.toSorted((a, b) => a[0] - b[0]);
  const outside: [number, number][] = [];
  let next = 0;
  for (const [first, last] of sorted) {
    if (first > next) outside.push([next, first - 1]);
    next = Math.max(next, last + 1);
  }
  if (next <= lastCodePoint) outside.push([next, lastCodePoint]);
  return outside;
}

const code = (letter: string): number => letter.charCodeAt(0);
const span = (first: string, last: string): readonly [number, number] => [code(first), code(last)];

export const digits: Ranges = [span('0', '9')];
export const spaces: Ranges = [[9, 13], span(' ', ' ')];
export const wordLetters: Ranges = [span('0', '9'), span('A', 'Z'), span('_', '_'), span('a', 'z')];
export const horizontal: Ranges = [
  [9, 9],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x180e, 0x180e],
  [0x2000, 0x200a],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
];
export const vertical: Ranges = [
  [10, 13],
  [0x85, 0x85],
  [0x2028, 0x2029],
];

/** What stands between `[:` and `:]`. */
export const posixClasses: Readonly<Record<string, Ranges>> = {
  alpha: [span('A', 'Z'), span('a', 'z')],
  digit: digits,
  alnum: [span('0', '9'), span('A', 'Z'), span('a', 'z')],
  upper: [span('A', 'Z')],
  lower: [span('a', 'z')],
  space: spaces,
  blank: [
    [9, 9],
    [32, 32],
  ],
  punct: [span('!', '/'), span(':', '@'), span('[', '`'), span('{', '~')],
  cntrl: [
    [0, 31],
    [127, 127],
  ],
  graph: [span('!', '~')],
  print: [span(' ', '~')],
  xdigit: [span('0', '9'), span('A', 'F'), span('a', 'f')],
  word: wordLetters,
  ascii: [[0, 127]],
};
