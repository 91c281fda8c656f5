import { badRequest } from '../errors.js';
import { Delimiter } from './delimiter.js';
import { parsePartHeaders } from './part-headers.js';

export interface Part {
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** To be read before the next part is asked for; what is left of it by then is passed over. */
  readonly body: AsyncIterable<Buffer>;
}

export interface MultipartLimits {
  headerBytesMax: number;
  partsMax: number;
}

const defaultMultipartLimits: MultipartLimits = { headerBytesMax: 16 * 1024, partsMax: 10_000 };

/**
 * The parts of a multipart body, one after the other. Chunks of the source go through as they come, without being
 * joined or kept, so memory holds one of them whatever the size of a part. What is malformed is refused, never guessed.
 *
 * Written by hand because none of the libraries does that: `@fastify/busboy`'s Dicer drops malformed headers, cuts
 * overlong ones and takes `--abcdef` for the boundary `abc`, all without a word, so that an attachment would be stored
 * cut short; `@remix-run/multipart-parser` holds whole parts in memory and knows no preamble; `multipasta` is made for
 * forms.
 *
 * The source is read on demand and never closed, also when the iteration is left early: an answer may still be due on
 * the connection it comes from. Bodies nest: a part's body may be the source of another reader.
 */
export async function* readMultipart(
  source: AsyncIterable<Uint8Array>,
  boundary: string,
  limits: MultipartLimits = defaultMultipartLimits,
): AsyncGenerator<Part, void, undefined> {
  const scanner = new Scanner(source, boundary);
  let count = 0;
  while (await scanner.skipToPart()) {
    if (++count > limits.partsMax)
      throw badRequest(`The multipart body has more than ${limits.partsMax} parts.`);
    const headers = await scanner.headers(limits.headerBytesMax);
    yield { headers, body: scanner.body() };
  }
  await scanner.passEpilogue();
}

const crlf = Buffer.from('\r\n');
const emptyLine = Buffer.from('\r\n\r\n');

class Scanner {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #delimiter: Delimiter;
  /** What has been read of the source and not been used. */
  #bytes: Buffer = crlf;
  /** Whether the delimiter at the end of the current part, or of the preamble, has been reached. */
  #atEnd: 'no' | 'part' | 'last' = 'no';

  constructor(source: AsyncIterable<Uint8Array>, boundary: string) {
    this.#source = source[Symbol.asyncIterator]();
    this.#delimiter = new Delimiter(boundary);
  }

  /** Passes over what is left before the next part. False when there is none. */
  async skipToPart(): Promise<boolean> {
    while ((await this.#piece()) !== undefined);
    return this.#atEnd === 'part';
  }

  /** Leaves the CRLF of the empty line where it is: the delimiter of an empty body may begin with it. */
  async headers(bytesMax: number): Promise<Map<string, string>> {
    this.#atEnd = 'no';
    for (;;) {
      const end = this.#bytes.indexOf(emptyLine);
      if ((end < 0 ? this.#bytes.length : end) > bytesMax + emptyLine.length) {
        throw badRequest(`The headers of a multipart part are longer than ${bytesMax} bytes.`);
      }
      if (end >= 0) {
        const headers = parsePartHeaders(this.#bytes.subarray(0, end));
        this.#bytes = this.#bytes.subarray(end + crlf.length);
        return headers;
      }
      await this.#more();
    }
  }

  async *body(): AsyncGenerator<Buffer, void, undefined> {
    let before = crlf.length;
    for (let piece; (piece = await this.#piece()) !== undefined;) {
      const cut = Math.min(before, piece.length);
      before -= cut;
      if (cut < piece.length) yield piece.subarray(cut);
    }
  }

  async passEpilogue(): Promise<void> {
    this.#bytes = Buffer.alloc(0);
    while (!(await this.#source.next()).done);
  }

  /** Some bytes of the current part, or of the preamble; undefined when its delimiter has been reached. */
  async #piece(): Promise<Buffer | undefined> {
    let from = 0;
    while (this.#atEnd === 'no') {
      const at = this.#delimiter.find(this.#bytes, from);
      if (at > 0) return this.#take(at);
      const found = at < this.#bytes.length ? this.#delimiter.read(this.#bytes, at) : 'undecided';
      if (found === 'undecided') await this.#more();
      else if (found === 'content') from = crlf.length;
      else {
        this.#atEnd = found.kind;
        this.#bytes = this.#bytes.subarray(found.end);
      }
    }
    return undefined;
  }

  #take(length: number): Buffer {
    const piece = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return piece;
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#source.next();
    if (done === true) throw badRequest('The multipart body ends before its closing boundary.');
    const chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
  }
}
