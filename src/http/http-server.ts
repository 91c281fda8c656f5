import { randomBytes } from 'node:crypto';
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toBytes } from '../base/bytes.js';
import { Refusal } from '../base/errors.js';
import { StartupError } from '../base/startup-error.js';
import { Exchange } from './exchange.js';
import { headerOf } from './header.js';
import { splitPath } from './path.js';
import { emptyQuery, Query } from './query.js';
import { MethodNotAllowed, route } from './router.js';
import type { Services } from './services.js';
import { statuses } from './statuses.js';

/** Longest request line and headers together. */
const headerBytesMax = 64 * 1024;

/** Takes requests from the network and sees to it that each is answered once, whatever goes wrong. */
export class HttpServer {
  readonly #server: Server;
  readonly #idPrefix = randomBytes(4).toString('hex');
  #requests = 0;
  #closing = false;

  constructor(private readonly services: Services) {
    this.#server = http.createServer(
      { maxHeaderSize: headerBytesMax, keepAliveTimeout: 65_000 },
      (request, response) => this.#take(request, response),
    );
    // Bodies of any length may take their time; what must come at once is the head.
    this.#server.requestTimeout = 0;
    this.#server.headersTimeout = 60_000;
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
      const status =
        error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
      const body =
        '{"error":"bad_request","reason":"The request is not HTTP that this server understands."}\n';
      socket.end(
        `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
    });
  }

  async listen(port: number, bind: string): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) =>
        reject(new StartupError(listenProblem(error, port, bind))),
      );
      this.#server.listen(port, bind, resolve);
    });
    const { address, port: taken, family } = this.#server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`;
  }

  /** Takes no new requests, and waits for those under way. */
  async close(): Promise<void> {
    this.#closing = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    await closed;
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const started = performance.now();
    const id = `${this.#idPrefix}${(++this.#requests).toString(36)}`;
    const socket = request.socket as Pipelined;
    const before = socket[lastAnswer];
    socket[lastAnswer] = response;
    // Requests sent without waiting for answers: one that changes something runs after what came before it, and
    // what comes after it sees what it did.
    if (before !== undefined && !before.closed && !(isSafe(before.req.method) && isSafe(request.method))) {
      before.once('close', () => this.#begin(request, response, id, started));
    } else this.#begin(request, response, id, started);
  }

  #begin(request: IncomingMessage, response: ServerResponse, id: string, started: number): void {
    let exchange: Exchange | undefined;
    response.on('close', () => this.#log(request, response, exchange, id, started));
    try {
      exchange = this.#exchange(request, response, id);
      const user = this.services.authenticator.authenticate(headerOf(request, 'authorization'));
      if (user instanceof Promise) {
        const pending = exchange;
        user
          .then((known) => this.#serve(pending, known))
          .catch((error: unknown) => this.#fail(pending, error));
      } else this.#serve(exchange, user);
    } catch (error) {
      exchange ??= new Exchange(
        this.services,
        request,
        response,
        request.method ?? 'GET',
        [],
        '/',
        emptyQuery,
        id,
      );
      this.#fail(exchange, error);
    }
  }

  #exchange(request: IncomingMessage, response: ServerResponse, id: string): Exchange {
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = mark < 0 ? emptyQuery : new Query(url.slice(mark + 1));
    return new Exchange(this.services, request, response, methodOf(request), splitPath(path), url, query, id);
  }

  #serve(exchange: Exchange, user: Exchange['user']): void {
    exchange.user = user;
    checkLogin(exchange);
    const work = route(exchange);
    if (work instanceof Promise) work.catch((error: unknown) => this.#fail(exchange, error));
  }

  /** Answers a failure. What is the server's own fault is logged whole and shown to nobody. */
  #fail(exchange: Exchange, error: unknown): void {
    const { response, request } = exchange;
    if (response.headersSent || response.destroyed) {
      if (!(error instanceof Refusal) && !isBrokenOff(error)) this.#complain(exchange, error);
      response.destroy();
      return;
    }
    if (!(error instanceof Refusal)) this.#complain(exchange, error);
    const refusal =
      error instanceof Refusal
        ? error
        : new Refusal('internal_server_error', 'The server failed; its log tells more.');
    const text = toBytes(JSON.stringify({ error: refusal.error, reason: refusal.reason }));
    const headers = refusal instanceof MethodNotAllowed ? { Allow: refusal.allow } : {};
    // What the client is still sending will not be read: the connection cannot be used again.
    const unread = request.complete || !hasBody(request) ? {} : { Connection: 'close' };
    exchange.text(statuses[refusal.error], text, { ...headers, ...unread });
    if (!request.complete) request.resume();
  }

  #complain(exchange: Exchange, error: unknown): void {
    const { id, method, request } = exchange;
    this.services.logger.error({ err: error, id, method, path: pathOf(request) }, 'a request failed');
  }

  #log(
    request: IncomingMessage,
    response: ServerResponse,
    exchange: Exchange | undefined,
    id: string,
    started: number,
  ): void {
    // A connection is idle only after its last answer has left, which may be after the server was told to close.
    if (this.#closing) setImmediate(() => this.#server.closeIdleConnections());
    const { logger, metrics } = this.services;
    const ms = performance.now() - started;
    const method = request.method ?? 'GET';
    metrics.request(method, response.statusCode, ms);
    if (!logger.logsRequests) return;
    const user = exchange?.user?.name ?? null;
    const complete = response.writableFinished;
    logger.request({
      id,
      method,
      path: pathOf(request),
      status: response.statusCode,
      user,
      ms: Math.round(ms * 1000) / 1000,
      complete,
    });
  }
}

/** Where a socket keeps the answer to its latest request. */
const lastAnswer = Symbol('last answer');
type Pipelined = IncomingMessage['socket'] & { [lastAnswer]?: ServerResponse };

const isSafe = (method: string | undefined): boolean =>
  method === 'GET' || method === 'HEAD' || method === 'OPTIONS';

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** The client went away while it was being answered: nobody's fault. */
const isBrokenOff = (error: unknown): boolean =>
  ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');

/** The query is left out: it may hold what is nobody else's business. */
function pathOf({ url = '/' }: IncomingMessage): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

const overridable = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'COPY']);

/** Clients that only know GET and POST say in a header of a POST what they mean. */
function methodOf(request: IncomingMessage): string {
  const method = request.method ?? 'GET';
  if (method !== 'POST') return method;
  const wanted = request.headers['x-http-method-override'];
  return typeof wanted === 'string' && overridable.has(wanted) ? wanted : method;
}

function checkLogin({ services: { config }, user, parts }: Exchange): void {
  if (user.name !== null) return;
  const exceptUp = config.boolean('chttpd/require_valid_user_except_for_up');
  if (!exceptUp && !config.boolean('chttpd/require_valid_user')) return;
  if (exceptUp && parts[0] === '_up') return;
  throw new Refusal('unauthorized', 'Authentication required.');
}

function listenProblem(error: NodeJS.ErrnoException, port: number, bind: string): string {
  if (error.code === 'EADDRINUSE')
    return `Port ${port} on ${bind} is in use by another program; choose another with --port.`;
  if (error.code === 'EACCES')
    return `Port ${port} on ${bind} may not be used by this user; choose another with --port.`;
  return `Cannot listen on ${bind} port ${port}: ${error.message}`;
}
