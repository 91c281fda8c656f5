/** Reads what stands for one character: escapes and classes in brackets. */
import {
  CharSet,
  complement,
  digits,
  horizontal,
  ignoringCase,
  posixClasses,
  spaces,
  vertical,
  wordLetters,
  type Ranges,
} from './char-set.js';

/** A pattern that can't be used; the message says why. */
export class PatternError extends Error {}

/** The place in a pattern. */
export class Cursor {
  at = 0;

  constructor(readonly text: string) {}

  get done(): boolean {
    return this.at >= this.text.length;
  }

  peek(ahead = 0): string {
    return this.text[this.at + ahead] ?? '';
  }

  /** Takes the words if they come next. */
  take(words: string): boolean {
    if (!this.text.startsWith(words, this.at)) return false;
    this.at += words.length;
    return true;
  }

  /** Takes what a sticky expression finds here. */
  match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.at;
    const found = expression.exec(this.text);
    if (found !== null) this.at += found[0].length;
    return found;
  }

  codePoint(): number {
    const code = this.text.codePointAt(this.at)!;
    this.at += code > 0xffff ? 2 : 1;
    return code;
  }
}

/** One character, or several that an escape stands for. */
type Chars = { readonly code: number } | { readonly ranges: Ranges } | { readonly property: string };

const classEscapes: Readonly<Record<string, Ranges>> = {
  d: digits,
  D: complement(digits),
  w: wordLetters,
  W: complement(wordLetters),
  s: spaces,
  S: complement(spaces),
  h: horizontal,
  H: complement(horizontal),
  v: vertical,
  V: complement(vertical),
  N: complement([[10, 10]]),
};

const controlEscapes: Readonly<Record<string, number>> = { a: 7, e: 27, f: 12, n: 10, r: 13, t: 9 };

/** Reads behind a backslash. */
export function readEscape(cursor: Cursor, inClass: boolean): Chars {
  const letter = cursor.peek();
  if (letter === '') throw new PatternError('\\ at the end of the pattern');
  if (letter in classEscapes && !(inClass && letter === 'N')) {
    cursor.at++;
    return { ranges: classEscapes[letter]! };
  }
  if (letter in controlEscapes) {
    cursor.at++;
    return { code: controlEscapes[letter]! };
  }
  if (inClass && cursor.take('b')) return { code: 8 };
  if (letter === 'p' || letter === 'P') return readProperty(cursor);
  const number =
    cursor.match(/x\{([0-9a-fA-F]{1,6})\}/y) ?? cursor.match(/x([0-9a-fA-F]{0,2})/y) ?? undefined;
  if (number !== undefined) return { code: checkCode(parseInt(number[1]! || '0', 16)) };
  const octal = cursor.match(inClass ? /[0-7]{1,3}/y : /0[0-7]{0,2}/y) ?? cursor.match(/o\{([0-7]{1,7})\}/y);
  if (octal !== null) return { code: checkCode(parseInt(octal[1] ?? octal[0], 8)) };
  const control = cursor.match(/c([\x20-\x7e])/y);
  if (control !== null) return { code: control[1]!.toUpperCase().charCodeAt(0) ^ 0x40 };
  if (/[1-9gkKGXC]/.test(letter)) throw new PatternError(`\\${letter} is not supported`);
  return { code: cursor.codePoint() };
}

function checkCode(code: number): number {
  if (code > 0x10ffff) throw new PatternError('a character beyond U+10FFFF');
  return code;
}

function readProperty(cursor: Cursor): Chars {
  const [, letter, named] = cursor.match(/([pP])(?:\{\s*(\^?[\w &]+?)\s*\}|(?=[A-Z]))/y) ?? [];
  const name = named ?? (letter === undefined ? '' : cursor.text[cursor.at++]!);
  const plain = name.replace('^', '').replace('L&', 'LC');
  const negated = (letter === 'P') !== name.startsWith('^');
  for (const written of [plain, `Script=${plain}`]) {
    const property = `\\${negated ? 'P' : 'p'}{${written}}`;
    try {
      new RegExp(property, 'u');
      return { property };
    } catch {
      // Not a property of that kind.
    }
  }
  throw new PatternError(plain === 'Any' ? 'Any is not supported' : 'unknown property behind \\p or \\P');
}

/** Reads a class behind its opening bracket. */
export function readClass(cursor: Cursor, ignoreCase: boolean): CharSet {
  const negated = cursor.take('^');
  const ranges: (readonly [number, number])[] = [];
  const properties: string[] = [];
  for (let first = true; first || cursor.peek() !== ']'; first = false) {
    const low = readMember(cursor);
    if (low === undefined) continue;
    if (!('code' in low)) {
      if ('ranges' in low) ranges.push(...low.ranges);
      else properties.push(low.property);
      continue;
    }
    if (cursor.peek() !== '-' || cursor.peek(1) === ']') {
      ranges.push([low.code, low.code]);
      continue;
    }
    cursor.at++;
    const high = readMember(cursor);
    if (high !== undefined && 'code' in high) {
      if (high.code < low.code) throw new PatternError('range out of order in character class');
      ranges.push([low.code, high.code]);
      continue;
    }
    // What is no range is its three parts.
    ranges.push([low.code, low.code], [0x2d, 0x2d]);
    if (high !== undefined && 'ranges' in high) ranges.push(...high.ranges);
    if (high !== undefined && 'property' in high) properties.push(high.property);
  }
  cursor.at++;
  return new CharSet(ignoreCase ? ignoringCase(ranges) : ranges, properties, negated);
}

/** Undefined for the marks of a quotation, which stand for nothing. */
function readMember(cursor: Cursor): Chars | undefined {
  if (cursor.done) throw new PatternError('missing terminating ] for character class');
  const posix = cursor.match(/\[:(\^?)([a-z]+):\]/y);
  if (posix !== null) {
    const ranges = Object.hasOwn(posixClasses, posix[2]!) ? posixClasses[posix[2]!] : undefined;
    if (ranges === undefined) throw new PatternError('unknown POSIX class name');
    return { ranges: posix[1] === '^' ? complement(ranges) : ranges };
  }
  if (/\[[.=]/y.test(cursor.text.slice(cursor.at, cursor.at + 2)))
    throw new PatternError('POSIX collating elements are not supported');
  if (!cursor.take('\\')) return { code: cursor.codePoint() };
  if (cursor.take('Q') || cursor.take('E')) return undefined;
  return readEscape(cursor, true);
}
