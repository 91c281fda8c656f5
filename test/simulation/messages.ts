import { Readable, Writable } from 'node:stream';
import type { Runtime } from '../../src/base/runtime.js';
import type { Random } from '../model/random.js';

/** Sockets of real clients take more before they make the server wait. */
const waitingBytes = 300;

/** A request as the server's handlers see it: of the shape of those of `node:http`, without a connection. */
export class SimulatedRequest extends Readable {
  // Requests of HTTP/2 do not wait for each other.
  readonly httpVersionMajor = 2;
  readonly httpVersionMinor = 0;
  readonly rawHeaders: readonly string[];
  readonly headers: Record<string, string>;
  readonly socket = { encrypted: false, remoteAddress: '127.0.0.1' };
  readonly hasBody: boolean;
  bytesRead = 0;
  complete = false;
  #left: Buffer;

  constructor(
    readonly method: string,
    readonly url: string,
    body: Buffer | undefined,
    private readonly runtime: Runtime,
    private readonly random: Random,
  ) {
    super();
    this.#left = body ?? Buffer.alloc(0);
    this.hasBody = body !== undefined;
    this.headers = {
      host: 'simulated',
      accept: 'application/json',
      'x-auth-couchdb-username': 'admin',
      'x-auth-couchdb-roles': '_admin',
      ...(body && { 'content-type': 'application/json', 'content-length': String(body.length) }),
    };
    this.rawHeaders = Object.entries(this.headers).flat();
    this.on('error', () => undefined);
  }

  /** The body comes in one or more parts, at once or after a while. */
  override _read(): void {
    const size = this.random.oneIn(4) ? 1 + this.random.below(this.#left.length + 1) : this.#left.length;
    const next = (): void => {
      const part = this.#left.subarray(0, size);
      this.#left = this.#left.subarray(size);
      this.bytesRead += part.length;
      if (part.length > 0) this.push(part);
      if (this.#left.length > 0) return;
      this.complete = true;
      this.push(null);
    };
    if (this.hasBody && this.random.oneIn(3)) this.runtime.setTimer(next, this.random.below(6));
    else next();
  }
}

/** The answer to a request. A client may be slow to take it. */
export class SimulatedResponse extends Writable {
  statusCode = 200;
  headersSent = false;

  constructor(
    readonly req: SimulatedRequest,
    private readonly onBytes: (bytes: Buffer) => void,
    private readonly runtime: Runtime,
    private readonly random: Random,
  ) {
    super({ decodeStrings: true, highWaterMark: waitingBytes });
  }

  writeHead(status: number): this {
    this.statusCode = status;
    this.headersSent = true;
    return this;
  }

  flushHeaders(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    const take = (): void => {
      this.onBytes(chunk);
      done();
    };
    if (this.random.oneIn(5)) this.runtime.setTimer(take, this.random.below(20));
    else take();
  }
}
