import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Due, TimerWheel } from '../../base/timer-wheel.js';
import { badRequest, RequestError } from '../../base/errors.js';
import type { ProxyAndCorsPolicy } from '../answer/proxy-and-cors-policy.js';
import { headerOf } from '../request/header.js';

/** What clients speak here; `docs/feeds.md` describes it. */
const protocol = 'tuffet.changes.v1';

/** Longest message of a client: room for a long list of ids. */
const messageBytesMax = 4 * 1024 * 1024;
/** A client that does not answer for so long is gone. */
const pingMs = 30_000;
const farewellMs = 1_000;
/** By these a WebSocket tells why it is closed. */
const goingAway = 1001;

/** A request to go on as a WebSocket, as Node hands it out. */
export interface UpgradeRequest {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

export const wantsWebSocket = (request: IncomingMessage): boolean =>
  request.method === 'GET' && headerOf(request, 'upgrade')?.toLowerCase() === 'websocket';

/** Upgrades connections to WebSockets, and closes those that don't respond. */
export class SocketServer {
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: messageBytesMax,
    handleProtocols: (offered) => (offered.has(protocol) ? protocol : false),
  });

  constructor(
    private readonly policy: ProxyAndCorsPolicy,
    private readonly wheel: TimerWheel,
  ) {}

  /** Refuses pages of other origins, but those that may use the server, and clients that speak something else. */
  #check(request: IncomingMessage): void {
    const origin = headerOf(request, 'origin');
    if (origin !== undefined && !this.#isOwn(origin, request) && !this.policy.cors?.allows(request)) {
      throw new RequestError('forbidden', 'Pages of this origin may not open WebSockets here.');
    }
    const offered = headerOf(request, 'sec-websocket-protocol');
    if (offered !== undefined && !offered.split(',').some((each) => each.trim() === protocol)) {
      throw badRequest(`The protocol of WebSockets here is ${protocol}.`);
    }
  }

  /** The WebSocket sends the answer; `response` emits its end. Refuses clients that may not open one. */
  accept(
    { request, socket, head }: UpgradeRequest,
    response: ServerResponse,
    open: (socket: WebSocket) => void,
  ): void {
    this.#check(request);
    response.detachSocket(socket as IncomingMessage['socket']);
    response.statusCode = 101;
    socket.once('close', () => response.emit('close'));
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      // An error is followed by the end, which is what matters.
      opened.on('error', () => undefined);
      new Pulse(opened, this.wheel);
      open(opened);
    });
  }

  /** Closes all connections; those that don't respond are cut off. */
  close(): void {
    for (const socket of this.#server.clients) {
      // Feeds say where they ended first.
      this.wheel.runtime.defer(() => socket.close(goingAway, 'The server is closing.'));
      this.wheel.runtime.setIdleTimer(() => socket.terminate(), farewellMs);
    }
  }

  #isOwn(origin: string, request: IncomingMessage): boolean {
    return URL.canParse(origin) && new URL(origin).host === this.policy.hostOf(request);
  }
}

/** Detects dead connections. */
class Pulse implements Due {
  #alive = true;

  constructor(
    private readonly socket: WebSocket,
    private readonly wheel: TimerWheel,
  ) {
    socket.on('pong', () => (this.#alive = true));
    socket.on('close', () => wheel.remove(this));
    this.wheel.add(this, pingMs);
  }

  due(): number | undefined {
    if (!this.#alive) return void this.socket.terminate();
    this.#alive = false;
    this.socket.ping();
    return pingMs;
  }
}
