import http, { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import { Unavailable, type RequestError } from '../../base/errors.js';
import { Admission } from './admission.js';
import { watchBodies, type BodyWatch } from './body-watch.js';
import { answerConnect } from './answer-connect.js';
import { answerClientError, answerRaw, type ClientError } from './client-error.js';
import { fail } from '../answer/error-answer.js';
import { answerPreflight } from '../answer/preflight.js';
import { Exchange } from '../exchange.js';
import { SocketServer, wantsWebSocket, type UpgradeRequest } from '../feeds/socket-server.js';
import { expectationFailed, HeadChecks } from './head-checks.js';
import { headerOf } from '../request/header.js';
import { callbackOf } from '../request/jsonp.js';
import { limitConnections, listenOn } from './listen.js';
import { checkLogin, login } from '../request/login.js';
import { splitPath, targetOf } from '../request/path.js';
import {
  forgetAnswer,
  isUnused,
  lastAnswer,
  mustWait,
  takeOver,
  watchQueued,
  type Pipelined,
} from './pipelining.js';
import { emptyQuery, Query } from '../request/query.js';
import { hasBody, isBrokenOff, methodOf, pathOf } from '../request/request-facts.js';
import { runRoute } from '../routes/run-route.js';
import type { Services } from '../services.js';
import { StalledReaders } from './stalled-readers.js';
import { TlsServer } from './tls-server.js';

/** Ids that others may give to requests: short, and harmless in a log. */
const requestId = /^[\w.:-]{1,64}$/;

/** Takes requests from the network and sees to it that each is answered once, whatever goes wrong. */
export class HttpServer {
  readonly #server: Server;
  readonly #tls: TlsServer | undefined;
  readonly #heads: HeadChecks;
  readonly #sockets: SocketServer;
  readonly #idPrefix: string;
  /** An answer that cannot be written is closed by itself; without a listener Node would end the process. */
  readonly #onResponseError = (error: unknown): void => {
    if (!isBrokenOff(error)) this.services.logger.error({ err: error }, 'writing an answer failed');
  };
  /** Of HTTP/1, plain and over TLS. */
  readonly #connections = new Set<Pipelined>();
  readonly #bodies: BodyWatch;
  /** Lets requests in. */
  readonly admission: Admission;
  #requests = 0;
  #closing = false;

  constructor(private readonly services: Services) {
    const { config, runtime } = services;
    this.#idPrefix = runtime.randomHex(4);
    this.admission = new Admission(runtime);
    this.#heads = new HeadChecks(config.number('tuffet/headers_max'));
    this.#sockets = new SocketServer(services.policy, services.wheel);
    this.#bodies = watchBodies(() => config.number('tuffet/body_idle_timeout_ms'), runtime);
    const headersTimeout = config.number('tuffet/headers_timeout_ms');
    const take = (request: IncomingMessage, response: ServerResponse): void => this.#take(request, response);
    const options = {
      maxHeaderSize: config.number('tuffet/header_bytes_max'),
      keepAliveTimeout: config.number('tuffet/idle_timeout_ms'),
      headersTimeout,
      connectionsCheckingInterval: Math.min(30_000, headersTimeout),
      // Bodies of any length may take their time; what must come at once is the head.
      requestTimeout: 0,
      // Node would answer in a form of its own.
      requireHostHeader: false,
    };
    this.#server = http.createServer(options, take);
    // Node drops the headers beyond its limit and says nothing: there is one of our own.
    this.#server.maxHeadersCount = 0;
    limitConnections(this.#server, config);
    const readers = new StalledReaders(() => config.number('tuffet/answer_idle_timeout_ms'), runtime);
    this.#server.on('connection', (socket: Pipelined) => {
      this.#connections.add(socket);
      services.metrics.connections++;
      readers.add(socket);
      socket.on('close', () => {
        this.#connections.delete(socket);
        services.metrics.connections--;
      });
    });
    this.#server.on('clientError', (error: ClientError, socket: Pipelined) => {
      // An answer that is under way cannot be followed by another.
      if (socket[lastAnswer]?.headersSent && !socket[lastAnswer].closed) socket.destroy();
      else answerClientError(error, socket, runtime);
    });
    this.#server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      this.#refuse(request, response, expectationFailed()),
    );
    this.#server.on('connect', (request: IncomingMessage, socket) =>
      takeOver(socket, () => answerConnect(request, socket, take, runtime)),
    );
    this.#server.on('upgrade', (request: IncomingMessage, socket, head) =>
      takeOver(socket, () => this.#upgrade({ request, socket, head })),
    );
    if (config.boolean('ssl/enable')) this.#tls = new TlsServer(config, this.#server, take, readers);
  }

  /** The addresses of plain HTTP and, where it is configured, of TLS. */
  async listen(): Promise<{ url: string; tlsUrl?: string }> {
    const { config } = this.services;
    const [port, bind] = [config.number('chttpd/port'), config.text('chttpd/bind_address')];
    const backlog = config.number('chttpd/backlog');
    const url = `http://${await listenOn(this.#server, { port, host: bind, backlog }, '--port')}`;
    if (this.#tls === undefined) return { url };
    const tlsBind = config.text('ssl/bind_address') || bind;
    try {
      return { url, tlsUrl: await this.#tls.listen(config.number('ssl/port'), tlsBind, backlog) };
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Reads the certificates again. */
  reload(): void {
    this.#tls?.reload();
  }

  /** Takes no new requests, and waits for those under way; what takes longer than its time is cut off. */
  async close(): Promise<void> {
    this.#closing = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    // Browsers open connections ahead of their requests; Node doesn't take those for idle.
    for (const socket of this.#connections) if (isUnused(socket)) socket.destroy();
    this.#sockets.close();
    const timer = this.services.runtime.setTimer(() => {
      for (const socket of this.#connections) socket.destroy();
      this.#tls?.cut();
    }, this.services.config.number('tuffet/close_timeout_ms'));
    await Promise.all([closed, this.#tls?.close()]);
    timer.cancel();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const started = this.services.runtime.monotonicMs();
    const id = this.#nextId(request);
    // Over HTTP/2 requests don't wait for each other: each has a stream of its own.
    if (request.httpVersionMajor === 2) return this.#begin(request, response, id, started);
    const socket = request.socket as Pipelined;
    const before = socket[lastAnswer];
    socket[lastAnswer] = response;
    // Requests sent without waiting for answers: one that changes something runs after what came before it, and
    // what comes after it sees what it did.
    if (before !== undefined && !before.closed) watchQueued(socket, response);
    if (before !== undefined && mustWait(before, request)) {
      before.once('close', () => socket.destroyed || this.#begin(request, response, id, started));
    } else this.#begin(request, response, id, started);
  }

  /**
   * A client that wants to go on in another protocol. WebSockets are the only one that is spoken here; all else is
   * answered as if it had not been asked for.
   */
  #upgrade(upgrade: UpgradeRequest): void {
    const { request, socket } = upgrade;
    const { runtime } = this.services;
    const started = runtime.monotonicMs();
    if (hasBody(request))
      return answerRaw(socket, runtime, 'bad_request', 'A request with a body cannot change the protocol.');
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as IncomingMessage['socket']);
    response.on('finish', () => socket.end());
    this.#begin(
      request,
      response,
      this.#nextId(request),
      started,
      wantsWebSocket(request) ? upgrade : undefined,
    );
  }

  #begin(
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
    started: number,
    upgrade?: UpgradeRequest,
  ): void {
    const { opening } = this.admission;
    if (opening !== undefined) {
      return void opening.then((isOpen) => {
        if (response.destroyed) return;
        if (isOpen) this.#begin(request, response, id, started, upgrade);
        else this.#refuse(request, response, new Unavailable('The server is restarting.'));
      });
    }
    let exchange: Exchange | undefined;
    // A WebSocket stays open as long as its client wants: it is not a request that ends soon.
    const isCounted = upgrade === undefined;
    if (isCounted) this.admission.enter();
    response.on('error', this.#onResponseError);
    response.on('close', () => {
      if (isCounted) this.admission.leave();
      if (exchange !== undefined) this.#bodies.delete(exchange);
      exchange?.finished();
      forgetAnswer(request, response);
      this.#log(request, response, exchange, id, started);
    });
    try {
      exchange = this.#exchange(request, response, id);
      if (hasBody(request)) this.#bodies.add(exchange);
      if (answerPreflight(exchange)) return;
      if (upgrade !== undefined) exchange.upgrade = (open) => this.#sockets.accept(upgrade, response, open);
      const identity = login(exchange);
      if (identity instanceof Promise) {
        const pending = exchange;
        identity.then((known) => this.#serve(pending, known)).catch((error: unknown) => fail(pending, error));
      } else this.#serve(exchange, identity);
    } catch (error) {
      fail(exchange ?? this.#emptyExchange(request, response, id), error);
    }
  }

  /** Answers a request that Node does not hand out for an answer. */
  #refuse(request: IncomingMessage, response: ServerResponse, refusal: RequestError): void {
    const id = this.#nextId(request);
    const exchange = this.#emptyExchange(request, response, id);
    const started = this.services.runtime.monotonicMs();
    response.on('error', this.#onResponseError);
    response.on('close', () => this.#log(request, response, exchange, id, started));
    fail(exchange, refusal);
  }

  /** A proxy or client that has named the request finds it in the log by that name. */
  #nextId(request: IncomingMessage): string {
    const given = headerOf(request, 'x-couch-request-id') ?? headerOf(request, 'x-request-id');
    if (given !== undefined && requestId.test(given)) return given;
    return `${this.#idPrefix}${(++this.#requests).toString(36)}`;
  }

  #emptyExchange(request: IncomingMessage, response: ServerResponse, id: string): Exchange {
    return new Exchange(this.services, request, response, request.method ?? 'GET', [], '/', emptyQuery, id);
  }

  #exchange(request: IncomingMessage, response: ServerResponse, id: string): Exchange {
    const { policy } = this.services;
    this.#heads.check(request, policy.uriBytesMax);
    const method = methodOf(request);
    const url = targetOf(request.url ?? '/', method);
    const mark = url.indexOf('?');
    const query = mark < 0 ? emptyQuery : new Query(url.slice(mark + 1));
    const parts = splitPath(mark < 0 ? url : url.slice(0, mark), policy.plusIsSpace);
    const exchange = new Exchange(this.services, request, response, method, parts, url, query, id);
    if (policy.jsonp) exchange.callback = callbackOf(query);
    return exchange;
  }

  #serve(exchange: Exchange, identity: Exchange['identity']): void {
    exchange.identify(identity);
    checkLogin(exchange, exchange.user);
    runRoute(exchange);
  }

  #log(
    request: IncomingMessage,
    response: ServerResponse,
    exchange: Exchange | undefined,
    id: string,
    started: number,
  ): void {
    // A connection is idle only after its last answer has left, which may be after the server was told to close.
    if (this.#closing) this.services.runtime.defer(() => this.#server.closeIdleConnections());
    const { logger, metrics } = this.services;
    const ms = this.services.runtime.monotonicMs() - started;
    const method = request.method ?? 'GET';
    const complete = response.writableEnded && response.writableFinished;
    metrics.request(method, response.statusCode, ms, exchange?.route, complete);
    if (!logger.logsRequests) return;
    const user = exchange?.user.name ?? null;
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
