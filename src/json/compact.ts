import { bytesBefore, stopsIn } from './words.js';

/** JSON that has been scanned, and the place to copy it to, each as bytes and as a view to go over it by words. */
export interface Copying {
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly out: Buffer;
  readonly outView: DataView;
}

/**
 * Copies the piece from `start` to `end` without the white space between its tokens to `length` of `out`; gives the new
 * length. The piece may begin and end between any two tokens. Within a string whole words are copied, of which the last
 * may be too long by some bytes: they are written over by what comes next, and `out` is as long as the whole text, of
 * which at least as much is left.
 */
export function compactInto(copying: Copying, length: number, start: number, end: number): number {
  const { bytes, view, out, outView } = copying;
  const lastWord = end - 4;
  let to = length;
  let at = start;
  while (at < end) {
    let byte = bytes[at++]!;
    if (byte <= 0x20) continue;
    out[to++] = byte;
    if (byte !== 0x22) continue;
    do {
      while (at <= lastWord) {
        const word = view.getInt32(at, true);
        const stops = stopsIn(word);
        outView.setInt32(to, word, true);
        const plain_bytes = stops === 0 ? 4 : bytesBefore(stops);
        at += plain_bytes;
        to += plain_bytes;
        if (stops !== 0) break;
      }
      byte = bytes[at++]!;
      out[to++] = byte;
      if (byte === 0x5c) out[to++] = bytes[at++]!;
    } while (byte !== 0x22);
  }
  return to;
}
