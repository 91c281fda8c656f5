import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { Unavailable } from '../../base/errors.js';
import { fromBytes, noBytes } from '../../base/bytes.js';
import type { Timer } from '../../base/runtime.js';
import { nodeHeader, secretHeader } from '../../cluster/blob-exchange.js';
import type { Cluster } from '../../cluster/cluster.js';
import { fail } from '../answer/error-answer.js';
import type { Exchange } from '../exchange.js';
import { addressHeader } from '../request/from-node.js';
import { forwardedMethod, hasBody, hopHeaders } from '../request/request-facts.js';
import { endAfterBody } from './linger.js';

/** What only the node knows that runs the replications of a cluster. */
const ofOwner: ReadonlySet<string> = new Set(['_scheduler']);

/** Of an answer, those that concern one connection only. */
const ofAnswersConnection: ReadonlySet<string> = new Set([...hopHeaders, 'transfer-encoding']);

/** Marks a request that comes from another node: it is not forwarded again. */
const forwardedHeader = 'x-tuffet-forwarded';

/** What one node says to another: not what a client says. */
const ofNodes: ReadonlySet<string> = new Set([addressHeader, secretHeader, nodeHeader]);

/** How long another node may take to accept a connection, with TLS where it uses that. */
const connectMs = 5_000;

/** Hands a request over to the node that can answer it, which asks for the login. Tells whether it has. */
export function forward(exchange: Exchange): boolean {
  const { cluster, config } = exchange.services;
  if (cluster === undefined || exchange.header(forwardedHeader) !== undefined) return false;
  const url = targetOf(exchange, cluster);
  if (url === undefined) return false;
  const sent = open(exchange, url, cluster);
  const { request, response } = exchange;
  let isAnswered = false;
  const giveUp = (reason: string): void => {
    if (isAnswered) return;
    isAnswered = true;
    limit.end();
    request.unpipe(sent);
    sent.destroy();
    fail(exchange, new Unavailable(reason));
  };
  const limit = new AnswerLimit(exchange, sent, config.number('cluster/forward_timeout_ms'), giveUp);
  sent.on('response', (answer) => {
    if (isAnswered || response.headersSent || response.destroyed) return void answer.destroy();
    isAnswered = true;
    limit.end();
    try {
      relay(exchange, answer);
    } catch {
      // A status or a header that Node does not send.
      answer.destroy();
      fail(
        exchange,
        new Unavailable('The node that has to answer this gives an answer that cannot be passed on.'),
      );
    }
  });
  // Once it has answered, the other node may read no more of the body; the answer tells by itself where it is broken off.
  sent.on('error', () => giveUp('The node that has to answer this cannot be reached.'));
  response.on('close', () => {
    isAnswered = true;
    limit.end();
    sent.destroy();
  });
  request.on('error', () => sent.destroy());
  request.once('close', () => request.complete || sent.destroy());
  request.pipe(sent);
  return true;
}

function open({ request, rawPath, sender }: Exchange, url: string, cluster: Cluster): ClientRequest {
  const { protocol, hostname, port } = new URL(url);
  const name = hostname.replace(/^\[|\]$/g, '');
  return (protocol === 'https:' ? https : http).request({
    protocol,
    hostname: name,
    // By default the certificate would have to be the one of the host that the client has named.
    servername: isIP(name) === 0 ? name : '',
    port,
    path: rawPath,
    method: forwardedMethod(request),
    headers: {
      ...forwardedHeaders(request),
      [forwardedHeader]: cluster.nodeName,
      // Failed logins are counted for the client, and not for this node.
      [addressHeader]: sender,
      [secretHeader]: cluster.secret,
    },
    // One that was kept could be closed by the other node at the same moment, and the request would be lost.
    agent: false,
  });
}

/** Ends the wait for a node that does not accept a connection, or does not begin its answer. What comes then may take any time. */
class AnswerLimit {
  #timer: Timer;
  #isConnected = false;
  #isEnded = false;

  constructor(
    private readonly exchange: Exchange,
    private readonly sent: ClientRequest,
    private readonly answerMs: number,
    private readonly giveUp: (reason: string) => void,
  ) {
    const { runtime, request } = exchange;
    const late = (): void => giveUp('The node that has to answer this accepts no connections.');
    this.#timer = runtime.setIdleTimer(late, Math.min(connectMs, answerMs));
    sent.once('socket', (socket) => {
      const isTls = 'encrypted' in socket;
      socket.once(isTls ? 'secureConnect' : 'connect', () => this.#begin());
    });
    request.on('data', () => this.#isConnected && this.#begin());
  }

  end(): void {
    this.#isEnded = true;
    this.#timer.cancel();
  }

  #begin(): void {
    if (this.#isEnded) return;
    this.#isConnected = true;
    this.#timer.cancel();
    this.#timer = this.exchange.runtime.setIdleTimer(() => this.#late(), this.answerMs);
  }

  /** A client that is slow to send its body is not the other node's fault. */
  #late(): void {
    const { request } = this.exchange;
    const isSent = request.complete || !hasBody(request) || this.sent.writableNeedDrain;
    if (isSent) this.giveUp('The node that has to answer this does not answer in time.');
    else this.#begin();
  }
}

function relay(exchange: Exchange, answer: IncomingMessage): void {
  const { request, response } = exchange;
  const { rawHeaders, statusCode } = answer;
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!ofAnswersConnection.has(rawHeaders[i]!.toLowerCase()))
      headers.push(rawHeaders[i]!, rawHeaders[i + 1]!);
  // A client that goes on sending what nobody reads is cut off some time after the answer.
  const isUnread = !request.complete && hasBody(request);
  if (isUnread && request.httpVersionMajor === 1) response.shouldKeepAlive = false;
  response.writeHead(statusCode!, headers);
  // A feed may have nothing to say for a while.
  if (answer.headers['content-length'] === undefined) response.flushHeaders();
  answer.pipe(response, { end: false });
  answer.once('end', () => {
    if (request.complete || !hasBody(request)) return void response.end();
    // What the client is still sending is not used.
    request.unpipe();
    if (request.httpVersionMajor === 1) return endAfterBody(exchange);
    response.end();
    request.resume();
  });
  answer.on('error', () => response.destroy());
}

/** Those of a request that are not about its connection, nor in the form that HTTP/2 gives them. */
function forwardedHeaders(request: IncomingMessage): http.OutgoingHttpHeaders {
  const { headers } = request;
  const entries = Object.entries(headers).filter(
    ([name]) => !name.startsWith(':') && !hopHeaders.has(name) && !ofNodes.has(name),
  );
  // HTTP/2 needs no length; without one, Node would send the body of a GET as if it were the next request.
  const isChunked = hasBody(request) && headers['content-length'] === undefined;
  return {
    host: String(headers[':authority'] ?? ''),
    ...Object.fromEntries(entries),
    ...(isChunked ? { 'transfer-encoding': 'chunked' } : {}),
  };
}

/** Where the node is that has to answer; undefined where that is this one, or none is there. */
function targetOf({ parts }: Exchange, cluster: Cluster): string | undefined {
  const [first = noBytes, node] = parts;
  if (ofOwner.has(first)) return cluster.ownerUrl;
  return first === '_node' && node !== undefined ? cluster.urlOf(fromBytes(node)) : undefined;
}
