import { asBytes } from '../bytes.js';
import type { Bytes } from '../bytes.js';

/** In the order in which they are sent. A header without a value is left out. */
export type PartHeaders = Readonly<Record<string, string | number | undefined>>;

/** Content that is opened when its turn comes. */
export interface StreamedContent {
  /** Undefined when it is not known beforehand. */
  readonly length: number | undefined;
  open(): AsyncIterable<Buffer> | Promise<AsyncIterable<Buffer>>;
}

export type OutgoingPart =
  | { headers: PartHeaders; text: Bytes }
  | { headers: PartHeaders; content: StreamedContent }
  | { headers?: PartHeaders; multipart: MultipartWriter; parts: readonly OutgoingPart[] };

/**
 * Writes `multipart/mixed` and `multipart/related` answers, also one inside the other. Parts are taken one at a time
 * and streamed; everything small between two streams goes out as one chunk.
 */
export class MultipartWriter {
  readonly contentType: string;
  readonly #boundary: string;

  constructor(kind: 'mixed' | 'related', boundary: string) {
    this.#boundary = boundary;
    this.contentType = `multipart/${kind}; boundary="${boundary}"`;
  }

  /** The bytes of the whole body; undefined when a part does not know its own. */
  length(parts: Iterable<OutgoingPart>): number | undefined {
    let total = this.#last().length;
    for (const part of parts) {
      const content = contentLength(part);
      if (content === undefined) return undefined;
      total += this.#head(part).length + content + lineEnd.length;
    }
    return total;
  }

  async *chunks(
    parts: Iterable<OutgoingPart> | AsyncIterable<OutgoingPart>,
  ): AsyncGenerator<Buffer, void, undefined> {
    let pending = '';
    for await (const part of parts) {
      pending += this.#head(part);
      if ('text' in part) pending += part.text;
      else {
        yield Buffer.from(pending, 'latin1');
        pending = '';
        yield* 'content' in part ? await part.content.open() : part.multipart.chunks(part.parts);
      }
      pending += lineEnd;
      if (pending.length < chunkBytes) continue;
      yield Buffer.from(pending, 'latin1');
      pending = '';
    }
    yield Buffer.from(pending + this.#last(), 'latin1');
  }

  #head(part: OutgoingPart): Bytes {
    let head = `--${this.#boundary}${lineEnd}`;
    for (const [name, value] of Object.entries(part.headers ?? {})) {
      if (value !== undefined) head += headerLine(name, String(value));
    }
    if ('multipart' in part) head += headerLine('Content-Type', part.multipart.contentType);
    return asBytes(head + lineEnd);
  }

  #last(): Bytes {
    return asBytes(`--${this.#boundary}--`);
  }
}

/** Text is gathered up to this size before it is sent. */
const chunkBytes = 64 * 1024;
const lineEnd = '\r\n';

/** Values come from clients: a line break in one must not begin a header of its own. */
function headerLine(name: string, value: string): Bytes {
  const safe = value.replace(/[\0\r\n]/g, (character) => encodeURIComponent(character));
  return asBytes(`${name}: ${Buffer.from(safe).toString('latin1')}${lineEnd}`);
}

function contentLength(part: OutgoingPart): number | undefined {
  if ('text' in part) return part.text.length;
  return 'content' in part ? part.content.length : part.multipart.length(part.parts);
}
