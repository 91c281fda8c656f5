import { matches } from './tokenizers.js';
import type { Tokenizer } from './token.js';

const cj = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]`;
const letter = String.raw`[\p{L}--${cj}]`;
const alpha = `${letter}{1,255}`;
const alnum = String.raw`[[\p{L}\p{Nd}]--${cj}]`;
const run = `${alnum}{1,255}`;
const withDigit = String.raw`(?=${letter}{0,255}\p{Nd})${run}`;
const joint = '[_\\-\\/.,]';

/** The kinds of tokens that Lucene's ClassicTokenizer knows. Of those that fit, the longest counts. */
const kinds = {
  email: `${run}(?:[.\\-_]${run}){0,16}@${run}(?:[.\\-]${run}){1,16}`,
  acronym: `${letter}\\.(?:${letter}\\.){1,64}`,
  host: `${run}(?:\\.${run}){1,32}`,
  apostrophe: `${alpha}(?:'${alpha}){1,16}`,
  company: `${alpha}[&@]${alpha}`,
  number:
    `(?:${run}(?:${joint}${withDigit}${joint}${run}){1,16}|${withDigit}(?:${joint}${run}${joint}${withDigit}){1,16}|` +
    `${run}${joint}${withDigit}(?:${joint}${run}${joint}${withDigit}){0,16}|` +
    `${withDigit}${joint}${run}(?:${joint}${withDigit}${joint}${run}){0,16})`,
  word: run,
};

type Kind = keyof typeof kinds;

const patterns = Object.entries(kinds).map(
  ([kind, source]) => [kind as Kind, new RegExp(source, 'vy')] as const,
);
const starts = new RegExp(`${cj}|${alnum}{1,256}`, 'gv');
const notStarts = new RegExp(`[^${cj}${alnum}]{0,8192}`, 'vy');
const ideograph = new RegExp(cj, 'v');

/** Tokens as Lucene's ClassicAnalyzer makes them: e-mail addresses, hosts and acronyms stay whole, `'s` and dots go. */
export const classicTokens: Tokenizer = function* (text) {
  let position = 0;
  let from = 0;
  for (const { start, end, term } of matches(text, starts, notStarts)) {
    // What is too long to be a token, or a part of the text without any.
    if (term === '') yield { term, start, end, position };
    // What the former token has taken.
    if (start < from || term === '') continue;
    if (ideograph.test(term)) {
      yield { term, start, end, position: position++ };
      continue;
    }
    const [kind, found] = longest(text, start);
    from = start + found.length;
    yield { term: cleaned(kind, found), start, end: from, position: position++ };
  }
};

function longest(text: string, at: number): [Kind, string] {
  let best: [Kind, string] = ['word', ''];
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? '';
    if (found.length > best[1].length) best = [kind, found];
  }
  return best;
}

function cleaned(kind: Kind, term: string): string {
  if (kind === 'acronym') return term.replaceAll('.', '');
  return kind === 'apostrophe' ? term.replace(/'s$/i, '') : term;
}
