import type { Token, Tokenizer } from './token.js';

/** Lucene's tokenizers leave out longer tokens. */
export const tokenLengthMax = 255;

/** The whole text as one token. */
export const keywordTokens: Tokenizer = (text) => [{ term: text, start: 0, end: text.length, position: 0 }];

export const whitespaceTokens: Tokenizer = (text) =>
  matches(text, /[^\s\u{1C}-\u{1F}]{1,256}/gu, /[\s\u{1C}-\u{1F}]{0,8192}/uy);

/** Runs of letters. */
export const letterTokens: Tokenizer = (text) => matches(text, /\p{L}{1,256}/gu, /\P{L}{0,8192}/uy);

const complexScripts = String.raw`\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`;
const apart = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u30FC${complexScripts}]`;
export const letterPattern = String.raw`[[\p{L}\p{Nl}]--${apart}]`;
export const digitPattern = String.raw`\p{Nd}`;
export const markPattern = String.raw`[\p{M}\p{Cf}]`;
/** Characters within words, between letters; and within numbers, between digits. */
export const midLetterPattern = String.raw`[:··‧․﹒.'’‘＇．]`;
export const midNumberPattern = String.raw`[,;.'’‘․﹒＇．，；]`;

/** Words as UAX #29 divides them; ideographs and hiragana stand alone, and scripts without spaces in runs. */
const words = new RegExp(
  String.raw`[\p{sc=Han}\p{sc=Hiragana}]${markPattern}{0,255}|[[\p{sc=Katakana}\u30FC]&&\p{L}]{1,256}|[${complexScripts}]{1,256}|` +
    String.raw`(?:${letterPattern}|${digitPattern}|_)(?:${letterPattern}|${digitPattern}|_|${markPattern}|` +
    String.raw`(?<=${letterPattern}${markPattern}{0,4})${midLetterPattern}(?=${letterPattern})|(?<=${digitPattern})${midNumberPattern}(?=${digitPattern})){0,255}`,
  'gv',
);

/** What no word begins with. */
const notWords = new RegExp(
  String.raw`[^\p{sc=Han}\p{sc=Hiragana}[[\p{sc=Katakana}\u30FC]&&\p{L}]${complexScripts}${letterPattern}${digitPattern}_]{0,8192}`,
  'vy',
);

/** The same, several times faster, for texts that have nothing but ASCII. */
const asciiWords =
  /[A-Za-z0-9_](?:[A-Za-z0-9_]|(?<=[A-Za-z])[:.'](?=[A-Za-z])|(?<=[0-9])[,;.'](?=[0-9])){0,255}/g;
const notAsciiWords = /[^A-Za-z0-9_]{0,8192}/y;
const notAscii = /[^\x00-\x7f]/;

const underscore = 0x5f;
const hasContent = /[\p{L}\p{N}]/u;

/** A word without letters and digits does not count. */
export const isWord = (term: string): boolean => term.charCodeAt(0) !== underscore || hasContent.test(term);

export const standardTokens: Tokenizer = function* (text: string) {
  let position = 0;
  const isAscii = !notAscii.test(text);
  for (const token of matches(text, isAscii ? asciiWords : words, isAscii ? notAsciiWords : notWords)) {
    if (token.start === token.end) {
      yield token;
      continue;
    }
    if (!isWord(token.term)) token.term = '';
    token.position = token.term === '' ? position : position++;
    yield token;
  }
};
standardTokens.ofWord = (word) => word;

/** In longer texts, what lies between tokens is passed over in parts, so that who takes long over it can let others run. */
const longText = 1 << 16;
const gapLength = 8_192;

/**
 * What a pattern finds. Where it finds more than a token may have, all that follows without a gap is left out too. `gap` finds up to 8,192
 * characters that no token begins with.
 */
export function* matches(text: string, pattern: RegExp, gap: RegExp): Generator<Token> {
  const find = new RegExp(pattern);
  const pass = text.length > longText ? new RegExp(gap) : undefined;
  let position = 0;
  let tooLongUntil = -1;
  for (;;) {
    for (let at = find.lastIndex; pass !== undefined; at = find.lastIndex) {
      pass.lastIndex = at;
      find.lastIndex = at + (pass.exec(text)?.[0].length ?? 0);
      if (find.lastIndex - at < gapLength) break;
      yield { term: '', start: find.lastIndex, end: find.lastIndex, position };
    }
    const found = find.exec(text);
    if (found === null) return;
    const [term] = found;
    const start = found.index;
    const end = start + term.length;
    const isTooLong = start === tooLongUntil || term.length > tokenLengthMax;
    if (isTooLong) tooLongUntil = end;
    yield { term: isTooLong ? '' : term, start, end, position: isTooLong ? position : position++ };
  }
}

/** The time of a segment grows with the text that it stands in, so long texts are read in pieces. */
const pieceLength = 1_000;
/**
 * Pieces overlap by so much, more than a few words: where a word ends before that does not depend on what follows the piece,
 * so it is a word of the whole text. Where it ends later, the next piece begins with it.
 */
const overlapLength = 200;

/**
 * A piece begins with words that are known, at least so many letters: a run that is cut within may be divided differently
 * where little of it is left. ICU does not divide less than four letters of Thai, nor less than twenty of katakana.
 */
const knownLength = 30;

/** Words of a language that is written without spaces, by ICU's dictionaries. */
export function segmenterTokens(locale: string): Tokenizer {
  const segmenter = new Intl.Segmenter(locale, { granularity: 'word' });
  return function* (text) {
    let position = 0;
    /** What begins before this place is known, or belongs to a word that is too long for a piece and for a token. */
    let from = 0;
    for (let at = 0, next; at < text.length; at = next) {
      const end = placeAt(text, at + pieceLength);
      const knownUntil = end === text.length ? end : end - overlapLength;
      let following = end;
      const starts: number[] = [];
      const before = position;
      for (const { segment, index, isWordLike } of segmenter.segment(text.slice(at, end))) {
        const start = at + index;
        const segmentEnd = start + segment.length;
        if (segmentEnd > knownUntil) {
          following = start;
          break;
        }
        starts.push(start);
        if (isWordLike !== true || start < from || segment.length > tokenLengthMax) continue;
        yield { term: segment, start, end: segmentEnd, position: position++ };
      }
      const isTooLong = following === at || following < from;
      from = isTooLong ? knownUntil : following;
      const known = isTooLong ? knownUntil - overlapLength : following - knownLength;
      next = starts.findLast((start) => start <= known && start > at) ?? placeAt(text, known);
      if (next <= at) next = following;
      // A text without words may take long: the caller can let others run.
      if (position === before && from < text.length) yield { term: '', start: from, end: from, position };
      if (end === text.length) return;
    }
  };
}

/** A place in a text, or the one before it where a character of two units stands. */
function placeAt(text: string, at: number): number {
  if (at >= text.length) return text.length;
  return isHighSurrogate(text.charCodeAt(at - 1)) ? at - 1 : at;
}

const isHighSurrogate = (code: number): boolean => (code & 0xfc00) === 0xd800;
