import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { RequestInfo } from '../auth/request-info.js';
import { anonymousIdentity, type Identity } from '../auth/authenticator.js';
import type { UserContext } from '../base/user-context.js';
import type { Budget, Share } from '../base/budget.js';
import type { Runtime } from '../base/runtime.js';
import { asBytes, noBytes, toBytes, type Bytes } from '../base/bytes.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import { invalidJson } from '../base/errors.js';
import { forwardedAddress } from './request/from-node.js';
import { readBody, requireJson } from './request/body.js';
import { headerOf, headersOf } from './request/header.js';
import { parseObject, type JsonObject } from './request/json-object.js';
import { jsonpClosing, jsonpOpening, jsonpType } from './request/jsonp.js';
import { contentTypeFor } from './request/negotiate.js';
import { NoRoom, uncountedBytes } from './connection/memory-budgets.js';
import type { Query } from './request/query.js';
import type { Services } from './services.js';
import { compressedHeaders, varying } from './answer/compression.js';
import { writeWhole, type Outlet } from './answer/stream.js';

/** A body that is taken as a whole may have this size, however large streamed ones may be. */
const bodyInMemoryBytesMax = 64 * 1024 * 1024;

/** Names and values of headers by turns. */
type HeaderList = (string | number)[];

/** One request and its answer. Handlers read from it and answer through it, once. */
export class Exchange implements RequestInfo, Outlet {
  identity: Identity = anonymousIdentity;
  user: UserContext = anonymousIdentity.user;
  /** Sent with the answer, to begin, renew or end a session. */
  setCookie: string | undefined;
  /** The function that JSON is handed to in the answer, where the client asked for that and may. */
  callback: string | undefined;
  /** What the client asked for, where rules of a design document led elsewhere. */
  requestedParts: readonly Bytes[] | undefined;
  /** How often they did. */
  rewrites = 0;
  /** The route that answers, for its figures; undefined until it is found. */
  route: { path: string } | undefined;
  /** Where the client wants a WebSocket: makes the connection one, in place of an answer. */
  upgrade: ((open: (socket: WebSocket) => void) => void) | undefined;
  /** The connection of such a client, while nothing was answered. */
  tunnel: { socket: Duplex; head: Buffer } | undefined;
  /** Whether JSON has been begun whose end may be an error. */
  endsWithError = false;
  readonly #registry: DatabaseRegistry;
  #bodyShare: Share | undefined;
  #answerShare: Share | undefined;
  #ends = 0;
  /** How long it took to read the body, where it was read as a whole. */
  #bodyMs = 0;

  constructor(
    readonly services: Services,
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly method: string,
    /** The path's parts, unescaped. */
    readonly parts: readonly Bytes[],
    /** The path and the query as they came. */
    readonly rawPath: string,
    readonly query: Query,
    readonly id: string,
  ) {
    this.#registry = services.registry;
  }

  /** Whether the stores that the request began with are closed. */
  get isCutOff(): boolean {
    return this.#registry.isClosing;
  }

  header(name: string): string | undefined {
    return headerOf(this.request, name);
  }

  headers(name: string): string[] {
    return headersOf(this.request, name);
  }

  /** The address of the client. */
  get sender(): string {
    const forwarded = forwardedAddress(this, this.services.cluster);
    if (forwarded !== undefined) return forwarded;
    const { socket } = this.request as { socket: { remoteAddress?: string | undefined } | null };
    return socket?.remoteAddress ?? '';
  }

  /** Sets the user of the request. */
  identify(identity: Identity): void {
    this.identity = identity;
    this.user = identity.user;
    const { authenticator } = this.services;
    if (authenticator.isDue(identity)) this.setCookie = authenticator.renewal(identity, this.secure);
  }

  get runtime(): Runtime {
    return this.services.runtime;
  }

  get answerBudget(): Budget {
    return this.services.budgets.answers;
  }

  get bodyBytesMax(): number {
    return this.services.config.number('chttpd/max_http_request_size');
  }

  /** Beyond this, JSON would take too long to be parsed at once. */
  get jsonBytesMax(): number {
    return this.services.config.number('tuffet/json_bytes_max');
  }

  body(bytesMax = bodyInMemoryBytesMax): Promise<Buffer> {
    const { runtime } = this.services;
    const started = runtime.monotonicMs();
    return readBody(this.request, {
      bytesMax: Math.min(this.bodyBytesMax, bodyInMemoryBytesMax, bytesMax),
      share: () => this.bodyShare,
      onEnd: () => (this.#bodyMs += runtime.monotonicMs() - started),
    });
  }

  /** What the body takes of the memory for bodies. Under pressure a client that has stopped sending is cut off. */
  get bodyShare(): Share {
    return (this.#bodyShare ??= this.services.budgets.bodies.share(() => void this.request.destroy()));
  }

  /** Called when the work is done, and when the answer has left or its client has: then nothing is held any more. */
  finished(): void {
    if (++this.#ends < 2) return;
    this.#bodyShare?.release();
    this.#answerShare?.release();
  }

  /** The body of a POST that must be a JSON object, and say so. */
  async jsonObject({ typed = true, bytesMax = this.jsonBytesMax } = {}): Promise<JsonObject> {
    if (typed) requireJson(this.request);
    const bytes = await this.body(Math.min(bytesMax, this.jsonBytesMax));
    if (bytes.length === 0) throw invalidJson();
    return parseObject(bytes, this.runtime);
  }

  /** The body as a JSON object; undefined where there is none. */
  async optionalObject(): Promise<JsonObject | undefined> {
    const bytes = await this.body(this.jsonBytesMax);
    if (bytes.length === 0) return undefined;
    return parseObject(bytes, this.runtime);
  }

  /** Answers with a value. */
  json(status: number, value: unknown, headers?: OutgoingHttpHeaders): void {
    this.text(status, toBytes(JSON.stringify(value)), headers);
  }

  /** Answers with JSON that is text already. */
  text(status: number, text: Bytes, headers?: OutgoingHttpHeaders): void {
    if (this.callback === undefined) {
      this.sendJson(status, contentTypeFor(this.header('accept')), asBytes(`${text}\n`), headers);
    } else this.#jsonp(status, text, headers);
  }

  /** Answers with a document. Its tag is its revision, which clients read there; a compressed answer must have another. */
  document(text: Bytes, headers: OutgoingHttpHeaders): void {
    if (this.callback === undefined) {
      this.send(200, contentTypeFor(this.header('accept')), asBytes(`${text}\n`), headers);
    } else this.#jsonp(200, text, headers);
  }

  #jsonp(status: number, text: Bytes, headers?: OutgoingHttpHeaders): void {
    const wrapped = asBytes(`${jsonpOpening(this.callback!)}${text}${jsonpClosing}`);
    this.send(status, jsonpType, wrapped, { ...headers, ...noSniffing });
  }

  /** A short answer with JSON, all of it sent but not ended. */
  unended(status: number, text: Bytes, headers: OutgoingHttpHeaders): void {
    const type = contentTypeFor(this.header('accept'));
    this.#writeHead(status, ['Content-Type', type, 'Content-Length', text.length + 1], headers);
    this.response.write(`${text}\n`, 'latin1');
  }

  /** As `send`; what is large is compressed for clients that take it so. */
  sendJson(status: number, type: string, text: Bytes, headers: OutgoingHttpHeaders = {}): void {
    const { compression } = this.services;
    if (this.method === 'HEAD' || !compression.concerns(text.length))
      return this.send(status, type, text, headers);
    if (!compression.isWanted(this.request)) return this.send(status, type, text, { ...headers, ...varying });
    const share = this.#roomFor(text);
    this.head(status, { 'Content-Type': type, ...headers }, text.length);
    writeWhole(this.response, text, share);
  }

  send(status: number, type: string, text: Bytes, headers?: OutgoingHttpHeaders): void {
    if (text.length > uncountedBytes.answer && this.method !== 'HEAD') {
      const share = this.#roomFor(text);
      this.#writeHead(status, ['Content-Type', type, 'Content-Length', text.length], headers);
      writeWhole(this.response, text, share);
      return;
    }
    this.#whole(status, ['Content-Type', type, 'Content-Length', text.length], headers, text);
  }

  /** Counts an answer that is being made as a whole, which has become so large. Room is doubled, so that it is rarely made again. */
  get hold(): (bytes: number) => void {
    return (bytes) => {
      if (bytes > uncountedBytes.answer) this.#roomFor({ length: 2 ** Math.ceil(Math.log2(bytes)) });
    };
  }

  #roomFor({ length }: Pick<Bytes, 'length'>): Share {
    const newShare = (): Share => this.answerBudget.share(() => this.response.destroy());
    const share = (this.#answerShare ??= newShare());
    const missing = length - share.bytes;
    if (missing <= 0 || share.tryGrow(missing)) return share;
    // While it waits for room, it must not keep others from having theirs.
    share.release();
    throw new NoRoom((this.#answerShare = newShare()), length);
  }

  /** An answer without a body. */
  empty(status: number, headers?: OutgoingHttpHeaders): void {
    this.#whole(status, ['Content-Length', 0], headers, noBytes);
  }

  /**
   * Sends the head; what follows is written to the response by the caller. Where that is JSON, and known to be of this
   * size at least, it may be compressed on its way.
   */
  head(status: number, headers: OutgoingHttpHeaders, jsonBytes = 0): void {
    const { compression } = this.services;
    if (this.method === 'HEAD' || !compression.concerns(jsonBytes))
      return this.#writeHead(status, [], headers);
    if (!compression.isWanted(this.request)) return this.#writeHead(status, [], { ...headers, ...varying });
    this.#writeHead(status, [], { ...compressedHeaders(headers), ...varying });
    compression.begin(this.response);
  }

  /** Sends the head of JSON that the caller writes to the response piece by piece, and closes with `endJson`. */
  jsonHead(status: number, headers?: OutgoingHttpHeaders, jsonBytes = 0): void {
    if (this.callback === undefined) {
      this.head(status, { 'Content-Type': contentTypeFor(this.header('accept')), ...headers }, jsonBytes);
    } else {
      this.#writeHead(status, ['Content-Type', jsonpType], { ...headers, ...noSniffing });
      if (this.method !== 'HEAD') this.response.write(jsonpOpening(this.callback), 'latin1');
    }
  }

  endJson(text: Bytes): void {
    this.response.end(this.callback === undefined ? text : text + jsonpClosing, 'latin1');
  }

  /** Sends a short answer and ends it. To a HEAD, Node knows, nothing but the head is sent. */
  #whole(status: number, list: HeaderList, headers: OutgoingHttpHeaders | undefined, body: Bytes): void {
    this.#complete(list, headers);
    const { response } = this;
    const sent = this.method === 'HEAD' ? noBytes : body;
    if (!this.services.wholeAnswers.send(response, status, list, sent))
      response.writeHead(status, list).end(body, 'latin1');
  }

  #writeHead(status: number, list: HeaderList, headers: OutgoingHttpHeaders | undefined): void {
    this.#complete(list, headers);
    this.response.writeHead(status, list);
  }

  /** Adds what every answer carries. A flat list of names and values is what Node writes fastest. */
  #complete(list: HeaderList, headers: OutgoingHttpHeaders | undefined): void {
    let cached = false;
    for (const name in headers) {
      list.push(name, headers[name] as string);
      if (name === 'Cache-Control') cached = true;
    }
    if (!cached) list.push('Cache-Control', 'must-revalidate');
    if (this.setCookie !== undefined) list.push('Set-Cookie', this.setCookie);
    list.push('Server', this.services.serverName, 'X-Request-ID', this.id, 'X-Couch-Request-ID', this.id);
    list.push('X-CouchDB-Body-Time', Math.round(this.#bodyMs));
    const { policy } = this.services;
    if (policy.marks) policy.mark(this.request, list);
  }

  /** The address of a path of this server, as the client sees it. */
  location(path: string): string {
    return `${this.secure ? 'https' : 'http'}://${this.services.policy.hostOf(this.request)}${path}`;
  }

  /** Whether the client came over TLS: cookies are marked as secure then. */
  get secure(): boolean {
    return this.services.policy.isSecure(this.request);
  }
}

const noSniffing = { 'X-Content-Type-Options': 'nosniff' };
