/** What one piece of a file has at most. */
export const pieceBytes = 512 * 1024;

/** Pieces kept for those to come. */
const spareMax = 16;

/**
 * Memory for pieces of files on their way to clients, used again when they have left: new memory would have to be
 * fetched from the system page by page, and found and given back by the garbage collector.
 */
class PieceBuffers {
  readonly #spare: Buffer[] = [];
  /** What may come back. */
  readonly #given = new WeakSet<Buffer>();

  /** A piece that is not given back is garbage like any other. */
  take(bytes: number): Buffer {
    if (bytes < pieceBytes) return Buffer.allocUnsafeSlow(bytes);
    const piece = this.#spare.pop() ?? Buffer.allocUnsafeSlow(pieceBytes);
    this.#given.add(piece);
    return piece;
  }

  /** Takes back a piece whose bytes are no longer needed. Ignores buffers that are not pieces. */
  giveBack(piece: Buffer): void {
    if (this.#given.delete(piece) && this.#spare.length < spareMax) this.#spare.push(piece);
  }
}

/** Those of this process. */
export const pieceBuffers = new PieceBuffers();
