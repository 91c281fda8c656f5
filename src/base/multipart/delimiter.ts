/**
 * Where the delimiter lines of a multipart body are. A delimiter is CRLF, two hyphens and the boundary, followed by two
 * more hyphens (the last one), or by blanks and CRLF. The same bytes with anything else behind them are content: a part
 * that holds `--abcdef` is not cut short because the boundary is `abc`.
 */
export class Delimiter {
  readonly #needle: Buffer;

  constructor(boundary: string) {
    this.#needle = Buffer.from(`\r\n--${boundary}`);
  }

  /** The first place from `from` on that may be a delimiter; the end of the bytes when there is none. */
  find(bytes: Buffer, from: number): number {
    const found = bytes.indexOf(this.#needle, from);
    return found >= 0 ? found : this.#partial(bytes, from);
  }

  /** What stands at the place that `find` gave. `end` is where the bytes behind it begin. */
  read(bytes: Buffer, at: number): { kind: 'part' | 'last'; end: number } | 'content' | 'undecided' {
    let next = at + this.#needle.length;
    if (next + 1 >= bytes.length) return 'undecided';
    if (bytes[next] === hyphen && bytes[next + 1] === hyphen) return { kind: 'last', end: next + 2 };
    while (bytes[next] === space || bytes[next] === tab) next++;
    if (next - at > this.#needle.length + blanksMax) return 'content';
    if (next + 1 >= bytes.length)
      return bytes[next] === undefined || bytes[next] === carriageReturn ? 'undecided' : 'content';
    // The CRLF stays: it also begins the empty line of a part without headers.
    return bytes[next] === carriageReturn && bytes[next + 1] === lineFeed
      ? { kind: 'part', end: next }
      : 'content';
  }

  /** Where a delimiter begins that the next bytes may complete. */
  #partial(bytes: Buffer, from: number): number {
    let at = Math.max(from, bytes.length - this.#needle.length + 1);
    while ((at = bytes.indexOf(carriageReturn, at)) >= 0) {
      const length = bytes.length - at;
      if (bytes.compare(this.#needle, 0, length, at) === 0) return at;
      at++;
    }
    return bytes.length;
  }
}

/** Blanks allowed behind a boundary. */
const blanksMax = 100;
const hyphen = 0x2d;
const space = 0x20;
const tab = 0x09;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;
