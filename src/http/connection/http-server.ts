import http, { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import net, { type Socket } from 'node:net';
import type { Admission } from './admission.js';
import { answerConnect } from './answer-connect.js';
import { answerClientError, answerRaw, type ClientError } from './client-error.js';
import { SocketServer, wantsWebSocket, type UpgradeRequest } from '../feeds/socket-server.js';
import { expectationFailed } from './head-checks.js';
import { limitConnections, listenOn } from './listen.js';
import {
  closeIdle,
  isUnused,
  lastAnswer,
  mustWait,
  takeOver,
  watchQueued,
  type Pipelined,
} from './pipelining.js';
import { hasBody } from '../request/request-facts.js';
import { RequestHandler, type HandlerOptions } from './request-handler.js';
import type { Services } from '../services.js';
import { StalledReaders } from './stalled-readers.js';
import { TlsServer } from './tls-server.js';

/** What answers requests, or has them answered. */
export type RequestTaker = Pick<RequestHandler, 'arrive' | 'handle' | 'refuse' | 'admission'>;

/** Takes requests from the network, in their order on each connection. */
export class HttpServer {
  readonly #server: Server;
  /** Accepts connections in its place, where they are shared out among processes. */
  #front: net.Server | undefined;
  readonly #tls: TlsServer | undefined;
  readonly #sockets: SocketServer;
  readonly #handler: RequestTaker;
  /** Of HTTP/1, plain and over TLS. */
  readonly #connections = new Set<Pipelined>();
  #closing = false;
  #isWatching = false;

  constructor(
    private readonly services: Services,
    handlerFor = (options: HandlerOptions): RequestTaker => new RequestHandler(services, options),
  ) {
    const { config, runtime } = services;
    this.#sockets = new SocketServer(services.policy, services.wheel);
    this.#handler = handlerFor({
      sockets: this.#sockets,
      // A connection is idle only after its last answer has left, which may be after the server was told to close.
      onEnd: () => this.#closing && runtime.defer(() => this.#closeIdle()),
    });
    const headersTimeout = config.number('tuffet/headers_timeout_ms');
    const take = (request: IncomingMessage, response: ServerResponse): void => this.take(request, response);
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
      // Node writes no more when a client has sent its last byte, and hears of it behind this.
      socket.prependListener('end', () => services.wholeAnswers.flush());
      socket.on('close', () => {
        this.#connections.delete(socket);
        services.metrics.connections--;
      });
    });
    this.#server.on('clientError', (error: ClientError, socket: Pipelined) => {
      // That of the request before it may wait for the end of the turn.
      services.wholeAnswers.flush();
      // An answer that is under way cannot be followed by another.
      if (socket[lastAnswer]?.headersSent && !socket[lastAnswer].closed) socket.destroy();
      else answerClientError(error, socket, runtime);
    });
    this.#server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      this.#handler.refuse(request, response, expectationFailed()),
    );
    this.#server.on('connect', (request: IncomingMessage, socket) =>
      takeOver(socket, () => answerConnect(request, socket, take, runtime)),
    );
    this.#server.on('upgrade', (request: IncomingMessage, socket, head) =>
      takeOver(socket, () => this.upgrade({ request, socket, head })),
    );
    if (config.boolean('ssl/enable')) this.#tls = new TlsServer(config, this.#server, take, readers, runtime);
  }

  get admission(): Admission {
    return this.#handler.admission;
  }

  /** Connections of HTTP/1. */
  get connections(): number {
    return this.#connections.size;
  }

  /**
   * The addresses of plain HTTP and, where it is configured, of TLS. Plain connections go to `share` where that is given,
   * which may `give` them back.
   */
  async listen(share?: (socket: Socket) => void): Promise<{ url: string; tlsUrl?: string }> {
    const { config } = this.services;
    const [port, bind] = [config.number('chttpd/port'), config.text('chttpd/bind_address')];
    const backlog = config.number('chttpd/backlog');
    this.#front =
      share && net.createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, share);
    const front = this.#front ?? this.#server;
    const url = `http://${await listenOn(front, { port, host: bind, backlog }, '--port')}`;
    if (this.#tls === undefined) return { url };
    const tlsBind = config.text('ssl/bind_address') || bind;
    try {
      return { url, tlsUrl: await this.#tls.listen(config.number('ssl/port'), tlsBind, backlog) };
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Takes over a connection that was accepted elsewhere. */
  give(socket: Socket): void {
    if (this.#closing) return void socket.destroy();
    if (!this.#isWatching && !this.#server.listening) {
      this.#isWatching = true;
      // From this on, Node looks for clients that don't send their headers in time.
      this.#server.emit('listening');
    }
    this.#server.emit('connection', socket);
    socket.resume();
  }

  /** Reads the certificates again. */
  reload(): void {
    this.#tls?.reload();
  }

  /** Takes no new requests, and waits for those under way; what takes longer than its time is cut off. */
  async close(): Promise<void> {
    this.#closing = true;
    const closed = Promise.all(
      [this.#server, this.#front].map(
        (each) => new Promise<void>((end) => (each ? this.#closeIdle(() => each.close(() => end())) : end())),
      ),
    );
    // Browsers open connections ahead of their requests; Node doesn't take those for idle.
    for (const socket of this.#connections) if (isUnused(socket)) socket.destroy();
    this.#sockets.close();
    const timer = this.services.runtime.setTimer(() => {
      for (const socket of this.#connections) socket.destroy();
      this.#tls?.cut();
    }, this.services.config.number('tuffet/close_timeout_ms'));
    await Promise.all([closed, this.#tls?.close(), this.#emptied()]);
    timer.cancel();
  }

  /** Node closes idle connections when it is told to, and when it closes the server. */
  #closeIdle(close = () => this.#server.closeIdleConnections()): void {
    this.services.wholeAnswers.flush();
    closeIdle(this.#connections, () => void close());
  }

  /** Node does not count connections that were accepted elsewhere. */
  async #emptied(): Promise<void> {
    const all = [...this.#connections].filter(({ closed }) => !closed);
    await Promise.all(all.map((socket) => new Promise<void>((end) => socket.once('close', () => end()))));
  }

  /** Has a request answered after those that came before it on its connection. */
  take(request: IncomingMessage, response: ServerResponse): void {
    const arrival = this.#handler.arrive(request);
    // Over HTTP/2 requests don't wait for each other: each has a stream of its own.
    if (request.httpVersionMajor === 2) return this.#handler.handle(request, response, arrival);
    const socket = request.socket as Pipelined;
    const before = socket[lastAnswer];
    socket[lastAnswer] = response;
    // Requests sent without waiting for answers: one that changes something runs after what came before it, and
    // what comes after it sees what it did.
    if (before !== undefined && !before.closed) {
      watchQueued(socket, response);
      this.services.wholeAnswers.flush();
    }
    if (before !== undefined && mustWait(before, request)) {
      before.once('close', () => socket.destroyed || this.#handler.handle(request, response, arrival));
    } else this.#handler.handle(request, response, arrival);
  }

  /**
   * A client that wants to go on in another protocol. WebSockets are the only one that is spoken here; all else is
   * answered as if it had not been asked for.
   */
  upgrade(upgrade: UpgradeRequest): void {
    const { request, socket } = upgrade;
    const arrival = this.#handler.arrive(request);
    if (hasBody(request))
      return answerRaw(
        socket,
        this.services.runtime,
        'bad_request',
        'A request with a body cannot change the protocol.',
      );
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as IncomingMessage['socket']);
    response.on('finish', () => socket.end());
    this.#handler.handle(request, response, arrival, wantsWebSocket(request) ? upgrade : undefined);
  }
}
