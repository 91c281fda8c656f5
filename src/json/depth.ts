import type { Bytes } from '../base/bytes.js';

/** Whether a value nests deeper than so many levels. The text is JSON without white space. */
export function isDeeperThan(text: Bytes, depthMax: number): boolean {
  // Each level takes a bracket on both sides.
  if (text.length <= 2 * depthMax) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = stringEnd(text, at);
    else if (code === openBrace || code === openBracket) {
      if (++depth > depthMax) return true;
    } else if (code === closeBrace || code === closeBracket) depth--;
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The quote at the end of a string. */
function stringEnd(text: Bytes, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) break;
    if (code === backslash) at++;
  }
  return at;
}
