import { standardTokens } from './tokenizers.js';
import type { Token, Tokenizer } from './token.js';

const label = String.raw`[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?`;
const host = String.raw`(?:${label}\.){1,16}[A-Za-z]{2,24}`;
const atom = String.raw`[A-Za-z0-9!#$%&'*+\/=?^_\x60\{\|\}~\-]{1,64}`;
const email = String.raw`${atom}(?:\.${atom}){0,8}@${host}`;
const path = String.raw`(?::\d{1,5})?(?:[\/?#][^\s<>"\{\}\|\\^\x60]{0,2000})?`;
const url = String.raw`(?:https?|ftp|file):\/\/(?:${host}|localhost|\d{1,3}(?:\.\d{1,3}){3})${path}|${host}(?![A-Za-z0-9@])${path}`;

/** An address begins where no part of one stands before it, so that none is looked for within another. */
const addresses = new RegExp(String.raw`(?<![A-Za-z0-9@.\-])(?:${email}|${url})`, 'gv');

/** Texts are looked through in pieces that no address reaches beyond, so that none takes long. */
const pieces = /\S{1,4000}/g;

/** As the standard tokens, but addresses of mail and of pages stay whole. */
export const emailTokens: Tokenizer = function* (text) {
  let position = 0;
  const find = new RegExp(pieces);
  for (let piece = find.exec(text); piece !== null; piece = find.exec(text)) {
    for (const token of inPiece(piece[0])) {
      token.start += piece.index;
      token.end += piece.index;
      token.position = token.term === '' ? position : position++;
      yield token;
    }
  }
};

function* inPiece(text: string): Generator<Token> {
  let from = 0;
  const find = new RegExp(addresses);
  const mayHave = text.includes('.') || text.includes('://');
  for (let found = mayHave ? find.exec(text) : null; found !== null; found = find.exec(text)) {
    yield* between(text, from, found.index);
    const term = found[0].replace(/[.,;:!?)\]]{1,100}$/, '');
    from = found.index + term.length;
    find.lastIndex = Math.max(from, found.index + 1);
    yield { term, start: found.index, end: from, position: 0 };
  }
  yield* between(text, from, text.length);
}

function* between(text: string, from: number, to: number): Generator<Token> {
  for (const token of standardTokens(text.slice(from, to)))
    yield { ...token, start: token.start + from, end: token.end + from };
}
