import {
  digitPattern,
  letterPattern,
  markPattern,
  midLetterPattern,
  midNumberPattern,
} from './tokenizers.js';

/**
 * Finds words in texts of Latin letters as the standard tokenizer does, several times faster: a table tells what a character is, and no
 * object is made for a word. Texts with other characters are left to the tokenizer.
 */
const letter = 1;
const digit = 2;
const connector = 4;
const wordBits = letter | digit | connector;
const midLetter = 8;
const midNumber = 16;
const other = 32;

/** Latin letters with marks end here. */
const latinEnd = 0x250;
/** Quotation marks, dashes and such. */
const punctuationStart = 0x2010;
const punctuationEnd = 0x2028;

const isOf = (pattern: string): ((character: string) => boolean) => {
  const expression = new RegExp(`^(?:${pattern})$`, 'v');
  return (character) => expression.test(character);
};

function kindsByCode(): Uint8Array {
  const kinds = new Uint8Array(punctuationEnd);
  const tests: [(character: string) => boolean, number][] = [
    [isOf(letterPattern), letter],
    [isOf(digitPattern), digit],
    [(character) => character === '_', connector],
    [isOf(midLetterPattern), midLetter],
    [isOf(midNumberPattern), midNumber],
    [isOf(markPattern), other],
  ];
  for (let code = 0; code < punctuationEnd; code++) {
    const character = String.fromCharCode(code);
    for (const [test, kind] of tests) if (test(character)) kinds[code]! |= kind;
  }
  return kinds;
}
const kinds = kindsByCode();

/**
 * Reads a text into a list of the numbers of its characters, which is quicker to look at than a string. Gives whether
 * words are found in it as the standard tokenizer finds them.
 */
export function readCharacters(text: string, characters: Uint16Array): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < latinEnd ? (kinds[code]! & other) !== 0 : code < punctuationStart || code >= punctuationEnd)
      return false;
    characters[i] = code;
  }
  return true;
}

/** One more than a word may have: what is longer is cut here. */
const cutLength = 256;

/** Where the next word begins; the text's length where there is none. */
export function wordStart(characters: Uint16Array, from: number, length: number): number {
  let at = from;
  while (at < length && (kinds[characters[at]!]! & wordBits) === 0) at++;
  return at;
}

/** Where the word ends that begins at a place. */
export function wordEnd(characters: Uint16Array, start: number, length: number): number {
  const most = Math.min(length, start + cutLength);
  let before = kinds[characters[start]!]!;
  let at = start + 1;
  for (; at < most; at++) {
    const kind = kinds[characters[at]!]!;
    if ((kind & wordBits) === 0) {
      const next = at + 1 < length ? kinds[characters[at + 1]!]! : 0;
      const isWithinWord = (kind & midLetter) !== 0 && (before & next & letter) !== 0;
      const isWithinNumber = (kind & midNumber) !== 0 && (before & next & digit) !== 0;
      if (!isWithinWord && !isWithinNumber) break;
    }
    before = kind;
  }
  return at;
}
