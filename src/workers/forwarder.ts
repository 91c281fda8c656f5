import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Runtime } from '../base/runtime.js';
import { endAfterBody } from '../http/connection/linger.js';
import type { UpgradeRequest } from '../http/feeds/socket-server.js';
import { forwardedMethod, hasBody } from '../http/request/request-facts.js';
import { forwardedHeaders } from './forwarded-head.js';

/** Connections to the owner of the data folder that are kept while no request needs them. */
const freeConnectionsMax = 256;

/** Headers of answers that concern one connection only. */
const hopHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'trailer']);

/** A request that is passed on. */
export interface Forwarded {
  request: IncomingMessage;
  response: ServerResponse;
  upgrade: UpgradeRequest | undefined;
  /** Its body, where that was read already. */
  body: Buffer | undefined;
}

/** Passes requests on to the owner of the data folder, and its answers back, as they come. */
export class Forwarder {
  readonly #agent = new http.Agent({
    keepAlive: true,
    maxFreeSockets: freeConnectionsMax,
    scheduling: 'lifo',
  });

  constructor(
    private readonly socketPath: string,
    private readonly runtime: Runtime,
  ) {}

  /** `onAnswer` is called with the status when the answer begins. Throws where Node refuses to send such a request. */
  forward(
    { request, response, upgrade, body }: Forwarded,
    onAnswer: (status: number) => void = () => undefined,
  ): void {
    const { socketPath } = this;
    const outgoing = http.request({
      socketPath,
      agent: upgrade === undefined ? this.#agent : false,
      method: forwardedMethod(request),
      path: request.url,
      headers: forwardedHeaders(request, upgrade !== undefined) as never,
    });
    let isAnswered = false;
    outgoing.on('response', (answer) => {
      onAnswer(answer.statusCode!);
      answer.once('end', () => (isAnswered = true));
      this.#relay(request, response, answer);
    });
    outgoing.on('upgrade', (answer: IncomingMessage, socket: Duplex, head: Buffer) => {
      isAnswered = true;
      joinSockets(response, answer, upgrade!, { socket, head });
    });
    // The owner may stop reading a body that it has answered already.
    outgoing.on('error', () => isAnswered || giveUp(response));
    response.once('close', () => isAnswered || outgoing.destroy());
    if (body === undefined) sendBody(request, outgoing);
    else outgoing.end(body);
  }

  close(): void {
    this.#agent.destroy();
  }

  #relay(request: IncomingMessage, response: ServerResponse, answer: IncomingMessage): void {
    const { rawHeaders, statusCode, statusMessage } = answer;
    const list: string[] = [];
    let hasLength = false;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i]!.toLowerCase();
      if (name === 'content-length') hasLength = true;
      if (!hopHeaders.has(name)) list.push(rawHeaders[i]!, rawHeaders[i + 1]!);
    }
    // The owner closes a connection on which more of a body comes than it reads.
    if (answer.headers.connection === 'close') response.shouldKeepAlive = false;
    response.writeHead(statusCode!, statusMessage!, list);
    if (!hasLength) response.flushHeaders();
    answer.pipe(response, { end: false });
    answer.once('end', () => {
      if (request.complete || !hasBody(request)) return void response.end();
      request.unpipe();
      request.removeAllListeners('data');
      endAfterBody({ request, response, runtime: this.runtime });
    });
    answer.on('error', () => response.destroy());
  }
}

/**
 * Passes a body on. Its last bytes and its end go out together: the owner may answer and close the connection as soon as it has
 * those bytes, and Node, which would find it closed when it writes the end, would drop the answer.
 */
function sendBody(request: IncomingMessage, outgoing: ClientRequest): void {
  if (!hasBody(request)) return void outgoing.end();
  const length = request.headers['content-length'];
  if (length === undefined) return void request.pipe(outgoing);
  let left = Number(length);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left <= 0) return void outgoing.end(chunk);
    if (outgoing.write(chunk)) return;
    request.pause();
    outgoing.once('drain', () => request.resume());
  });
}

/** The owner is gone, and with it this process in a moment. */
function giveUp(response: ServerResponse): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const body = '{"error":"service_unavailable","reason":"The server is stopping."}\n';
  response.writeHead(503, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    Connection: 'close',
  });
  response.end(body);
}

/** Makes one connection of two, which speak another protocol from now on. */
function joinSockets(
  response: ServerResponse,
  { rawHeaders, statusCode, statusMessage }: IncomingMessage,
  { socket: client, head: clientHead }: UpgradeRequest,
  { socket: owner, head: ownerHead }: Omit<UpgradeRequest, 'request'>,
): void {
  response.detachSocket(client as IncomingMessage['socket']);
  response.statusCode = statusCode!;
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let i = 0; i < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  client.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (ownerHead.length > 0) client.write(ownerHead);
  if (clientHead.length > 0) owner.write(clientHead);
  client.pipe(owner).pipe(client);
  client.on('error', () => owner.destroy());
  owner.on('error', () => client.destroy());
  client.once('close', () => {
    owner.destroy();
    response.emit('close');
  });
  owner.once('close', () => (client as Socket).destroySoon());
}
