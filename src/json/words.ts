/**
 * Four bytes of a string at a time: looking at every byte on its own took four times as long.
 *
 * A *word* is four bytes of text read as a little-endian integer, so its lowest byte is the first in the text. A word is
 * searched with the old trick that `(x - 0x01) & ~x & 0x80` is set for a zero byte, done on all four bytes in one
 * subtraction. A borrow can set the mark of a byte too, but only above a byte that is rightly marked: whether there is
 * a mark and where the lowest stands are exact, and nothing else is used.
 */
const marks = 0x80808080 | 0;

/** Marks the bytes that end a run of plain characters in a string: quote, backslash, control characters. */
export function stopsIn(word: number): number {
  const quote = word ^ 0x22222222;
  const backslash = word ^ 0x5c5c5c5c;
  return (
    (((word - 0x20202020) & ~word) |
      ((quote - 0x01010101) & ~quote) |
      ((backslash - 0x01010101) & ~backslash)) &
    marks
  );
}

/** How many bytes of a word stand before the first that is marked. */
export function bytesBefore(stops: number): number {
  return (31 - Math.clz32(stops & -stops)) >> 3;
}

/**
 * The hash of a name goes over the words of its UTF-8 bytes, the last one filled up with zeros, which no name holds
 * unescaped. It only has to tell apart the names of one object; see `walker.ts` for what a collision costs.
 */
export const hashSeed = 0x2545f491;

export function hashStep(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

export function hashText(text: string): number {
  const bytes = Buffer.from(text);
  let hash = hashSeed;
  for (let at = 0; at < bytes.length; at += 4) {
    let word = 0;
    for (let index = Math.min(at + 4, bytes.length) - 1; index >= at; index--)
      word = (word << 8) | bytes[index]!;
    hash = hashStep(hash, word);
  }
  return hash;
}
