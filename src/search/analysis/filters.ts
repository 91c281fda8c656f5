import type { Token, Tokenizer } from './token.js';

/** What is done to each term. */
type Change = (term: string) => string;

export const lowerCase: Change = (term) => term.toLowerCase();

/** Tokens with other terms. */
export function changed(tokens: Tokenizer, ...changes: readonly Change[]): Tokenizer {
  const change: Change = (term) =>
    term === '' ? '' : changes.reduce((changing, each) => each(changing), term);
  return eachTerm(tokens, change);
}

function eachTerm(tokens: Tokenizer, change: Change): Tokenizer {
  const { ofWord } = tokens;
  const each: Tokenizer = function* (text: string) {
    for (const token of tokens(text)) {
      token.term = change(token.term);
      yield token;
    }
  };
  if (ofWord !== undefined) each.ofWord = (word) => change(ofWord(word));
  return each;
}

export type StopWords = Pick<ReadonlySet<string>, 'has' | 'size'>;

/** Made a set by the first use: an analyzer may have long lists for fields that a query does not name. */
export class WordSet implements StopWords {
  #set: ReadonlySet<string> | undefined;

  constructor(private readonly words: readonly string[]) {}

  get size(): number {
    return this.words.length;
  }

  has(word: string): boolean {
    return (this.#set ??= new Set(this.words)).has(word);
  }
}

/** Leaves words out; their positions stay taken. */
export function without(tokens: Tokenizer, words: StopWords): Tokenizer {
  return words.size === 0 ? tokens : eachTerm(tokens, (term) => (words.has(term) ? '' : term));
}

/** Takes `'s` off English words. */
export const possessive: Change = (term) => term.replace(/['’＇][sS]$/, '');

/** Takes articles and other short words off that are written together with the next. */
export function elision(articles: string): Change {
  const known = new Set(articles.split(' '));
  return (term) => {
    const at = term.search(/['’]/);
    return at > 0 && known.has(term.slice(0, at).toLowerCase()) ? term.slice(at + 1) : term;
  };
}

const cjk = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u30FC]/u;

/** Pairs of neighbouring characters in place of the characters of East Asian scripts; one without neighbours stays. */
export function bigrams(tokens: Tokenizer): Tokenizer {
  return function* (text) {
    let position = 0;
    let before: Token | undefined;
    let isPaired = false;
    for (const token of characters(tokens(text))) {
      if (token.start === token.end) {
        yield { ...token, position };
        continue;
      }
      const isCjk = cjk.test(token.term);
      const joins = before !== undefined && isCjk && before.end === token.start;
      if (before !== undefined && !joins && !isPaired) yield { ...before, position: position++ };
      if (joins)
        yield {
          term: before!.term + token.term,
          start: before!.start,
          end: token.end,
          position: position++,
        };
      if (!isCjk) yield { ...token, position: position++ };
      before = isCjk ? token : undefined;
      isPaired = joins;
    }
    if (before !== undefined && !isPaired) yield { ...before, position };
  };
}

function* characters(tokens: Iterable<Token>): Generator<Token> {
  for (const token of tokens) {
    if (!cjk.test(token.term)) {
      yield token;
      continue;
    }
    let at = token.start;
    for (const term of token.term) yield { ...token, term, start: at, end: (at += term.length) };
  }
}
