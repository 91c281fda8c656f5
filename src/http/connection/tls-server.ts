import http2, { type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import type { Runtime } from '../../base/runtime.js';
import type { Config } from '../../config/config.js';
import { H2Request, H2Response } from './h2-messages.js';
import { limitConnections, listenOn } from './listen.js';
import type { StalledReaders } from './stalled-readers.js';
import { secureContextOptions } from './tls-options.js';

type Take = (request: IncomingMessage, response: ServerResponse) => void;

/** Bytes that a client may send on one stream, and on all of a connection, before they are read. */
const streamWindowBytes = 256 * 1024;
const sessionWindowBytes = 1024 * 1024;

/**
 * The port for TLS. What a client speaks is settled in the handshake: HTTP/2 where it offers that, and otherwise
 * HTTP/1.1, whose connections are handed to the same server as plain ones, with the same limits.
 */
export class TlsServer {
  readonly #tls: tls.Server;
  readonly #h2: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #idleMs: number;
  /** Sockets under TLS, those in a handshake too. */
  readonly #sockets = new Set<Socket>();
  #closing = false;

  constructor(
    private readonly config: Config,
    http1: Server,
    take: Take,
    private readonly readers: StalledReaders,
    private readonly runtime: Runtime,
  ) {
    this.#idleMs = config.number('tuffet/idle_timeout_ms');
    this.#h2 = this.#createH2(take);
    const verify = config.boolean('ssl/verify_ssl_certificates');
    this.#tls = tls.createServer(
      {
        ...secureContextOptions(config),
        ALPNProtocols: ['h2', 'http/1.1'],
        handshakeTimeout: config.number('tuffet/headers_timeout_ms'),
        requestCert: verify,
        rejectUnauthorized: verify && config.boolean('ssl/fail_if_no_peer_cert'),
      },
      (socket) => {
        // A certificate may be missing, but one that is shown has to be good.
        if (verify && !socket.authorized && hasCertificate(socket)) return void socket.destroy();
        if (this.#closing) return void socket.destroy();
        (socket.alpnProtocol === 'h2' ? this.#h2 : http1).emit('connection', socket);
      },
    );
    limitConnections(this.#tls, config);
    this.#tls.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    // Failed handshakes are ignored.
    this.#tls.on('tlsClientError', (_, socket) => socket.destroy());
  }

  async listen(port: number, host: string, backlog: number): Promise<string> {
    return `https://${await listenOn(this.#tls, { port, host, backlog }, '[ssl] port')}`;
  }

  /** Reads the files again, for connections to come. Throws, and changes nothing, where they can't be used. */
  reload(): void {
    this.#tls.setSecureContext(secureContextOptions(this.config));
  }

  /** Takes no new requests, and waits for those under way. */
  async close(): Promise<void> {
    this.#closing = true;
    const closed = new Promise<void>((resolve) => this.#tls.close(() => resolve()));
    for (const session of this.#sessions.keys()) session.close();
    await closed;
  }

  /** Breaks off whatever is still open. */
  cut(): void {
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }

  #createH2(take: Take): Http2Server {
    const { config } = this;
    const server = http2.createServer({
      maxHeaderListPairs: config.number('tuffet/headers_max') + pseudoHeaders,
      settings: {
        initialWindowSize: streamWindowBytes,
        maxConcurrentStreams: config.number('tuffet/streams_max'),
        maxHeaderListSize: config.number('tuffet/header_bytes_max'),
      },
    });
    server.on('session', (session) => this.#watch(session));
    server.on('stream', (opened, headers, _, rawHeaders: string[]) => {
      const stream = opened as ServerHttp2Stream;
      // The end of the stream reports a client that disconnects.
      stream.on('error', () => undefined);
      // The client may have reset the stream already; Node throws when it is told to answer there.
      if (stream.destroyed || stream.closed) return;
      if (headers.expect === '100-continue') stream.additionalHeaders({ ':status': 100 });
      const request = new H2Request(stream, headers, rawHeaders);
      const response = new H2Response(stream, request, this.runtime);
      this.readers.add(response);
      take(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    });
    return server;
  }

  #watch(session: ServerHttp2Session): void {
    let streams = 0;
    this.#sessions.add(session);
    session.setLocalWindowSize(sessionWindowBytes);
    session.on('stream', (stream) => {
      streams++;
      stream.on('close', () => streams--);
    });
    // A feed may be silent for as long as it likes: only a connection without requests is idle.
    session.setTimeout(this.#idleMs, () => streams === 0 && session.close());
    session.on('error', () => session.destroy());
    session.on('close', () => this.#sessions.delete(session));
  }
}

/** Method, path, scheme and host are counted among the headers. */
const pseudoHeaders = 4;

function hasCertificate(socket: TLSSocket): boolean {
  return Object.keys(socket.getPeerCertificate() ?? {}).length > 0;
}
