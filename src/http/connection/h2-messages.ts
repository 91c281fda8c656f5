import http2, {
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { Readable, Writable } from 'node:stream';
import type { Runtime } from '../../base/runtime.js';

/**
 * A request and its answer over HTTP/2, in the shape of those of `node:http` as far as this server uses it, so that
 * nothing else has to know which it is. Node has such a shape of its own, which is not used: it ends a body that was
 * broken off as if it had come whole, and has no way to ask whether the client is still there.
 */
export class H2Request extends Readable {
  readonly httpVersionMajor = 2;
  readonly httpVersionMinor = 0;
  readonly method: string;
  readonly url: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly socket: { encrypted: boolean; remoteAddress: string | undefined };
  readonly hasBody: boolean;
  /** Bytes of the body that have come. */
  bytesRead = 0;
  #complete = false;

  constructor(
    private readonly stream: ServerHttp2Stream,
    readonly headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
  ) {
    super({ highWaterMark: readAheadBytes });
    this.rawHeaders = withOneCookie(rawHeaders, headers.cookie);
    this.socket = { encrypted: true, remoteAddress: stream.session?.socket.remoteAddress };
    this.method = headers[':method'] ?? 'GET';
    this.url = headers[':path'];
    this.hasBody = !stream.endAfterHeaders;
    // Readers of the body receive the error; without a reader it must not end the process.
    this.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => {
      this.bytesRead += chunk.length;
      if (!this.push(chunk)) stream.pause();
    });
    // The end of a stream that was reset is no end of the body.
    stream.on('end', () => {
      if (stream.aborted) return this.#breakOff();
      this.#complete = true;
      this.push(null);
    });
    stream.on('aborted', () => this.#breakOff());
    stream.on('close', () => this.#breakOff());
  }

  /** Whether the whole body has come. */
  get complete(): boolean {
    return this.#complete;
  }

  override _read(): void {
    this.stream.resume();
  }

  #breakOff(): void {
    if (this.#complete || this.destroyed) return;
    this.destroy(Object.assign(new Error('The request was broken off.'), { code: 'ECONNRESET' }));
  }
}

export class H2Response extends Writable {
  statusCode = 200;
  headersSent = false;
  /** Bytes of the body that the client has taken. */
  bytesWritten = 0;
  #bodyless = false;
  #whole = false;

  constructor(
    private readonly stream: ServerHttp2Stream,
    readonly req: H2Request,
    private readonly runtime: Pick<Runtime, 'defer'>,
  ) {
    super({ decodeStrings: true });
    stream.on('close', () => this.destroy());
  }

  /** Takes a flat list of names and values. */
  writeHead(status: number, list: readonly (string | number)[]): this {
    this.statusCode = status;
    this.#bodyless = this.req.method === 'HEAD' || status === 204 || status === 304;
    if (!this.#isOpen) {
      this.headersSent = true;
      return this;
    }
    const headers: OutgoingHttpHeaders = { ':status': status };
    for (let i = 0; i < list.length; i += 2) {
      const name = String(list[i]).toLowerCase();
      if (ofConnection.has(name)) continue;
      const before = headers[name];
      headers[name] = before === undefined ? list[i + 1] : [before, list[i + 1]].flat().map(String);
    }
    // To close a stream ends it first, as if all had been sent, unless something is to follow: so something always is,
    // though empty, and only an answer that came to its end has it.
    this.stream.respond(headers, { endStream: this.#bodyless, waitForTrailers: true });
    // Only now: where a header cannot be sent, an error can still be answered in its place.
    this.headersSent = true;
    this.stream.on('wantTrailers', () => this.#whole && this.#isOpen && this.stream.sendTrailers({}));
    return this;
  }

  /** Heads are sent as soon as they are written. */
  flushHeaders(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#bodyless) done();
    else if (this.#isOpen)
      this.stream.write(chunk, () => {
        this.bytesWritten += chunk.length;
        done();
      });
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#whole = true;
    if (this.#bodyless || !this.#isOpen) done();
    else this.stream.end(() => done());
  }

  /** An answer that was not brought to its end is shown to be broken. */
  override _destroy(_: Error | null, done: (error?: Error | null) => void): void {
    if (!this.writableFinished) this.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
    // The client should stop sending what will not be read. Node 22 drops a head that has not left when a stream is closed.
    else if (!this.req.complete && !this.stream.endAfterHeaders)
      this.runtime.defer(() => this.stream.close(http2.constants.NGHTTP2_NO_ERROR));
    done();
  }

  get #isOpen(): boolean {
    return !this.stream.destroyed && !this.stream.closed;
  }
}

/** Browsers send each cookie as a header of its own; all others expect one with all of them. */
function withOneCookie(rawHeaders: readonly string[], cookie: string | undefined): readonly string[] {
  if (cookie === undefined) return rawHeaders;
  const others = rawHeaders.filter((_, i) => rawHeaders[i - (i % 2)]!.toLowerCase() !== 'cookie');
  return [...others, 'cookie', cookie];
}

const readAheadBytes = 64 * 1024;

/** What concerns a connection has no place in a stream. */
const ofConnection = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade']);
