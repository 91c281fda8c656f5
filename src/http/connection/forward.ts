import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { Unavailable } from '../../base/errors.js';
import { fromBytes, noBytes } from '../../base/bytes.js';
import { userHeader } from '../../cluster/blob-exchange.js';
import type { Cluster } from '../../cluster/cluster.js';
import { fail } from '../answer/error-answer.js';
import type { Exchange } from '../exchange.js';
import { readsHeader, wantsFresh } from '../request/freshness.js';
import { addressHeader, forwardedHeader, isFromNode, nodeHeaders } from '../request/from-node.js';
import { forwardedMethod, hasBody, hopHeaders, namesMovable } from '../request/request-facts.js';
import { AnswerLimit } from './answer-limit.js';
import { endAfterBody } from './linger.js';

/** What is done by the node that runs the replications and the resharding jobs of a cluster. */
const ofOwner: ReadonlySet<string> = new Set(['_replicate', '_scheduler', '_reshard']);

/** Of an answer, those that concern one connection only. */
const ofAnswersConnection: ReadonlySet<string> = new Set([...hopHeaders, 'transfer-encoding']);

/** A database may be moved while a request for it is on its way: it is passed on once more then. */
const passedMax = 2;

/** Hands a request over to the node that can answer it, which asks for the login. Tells whether it has. */
export function forward(exchange: Exchange): boolean {
  const { cluster } = exchange.services;
  if (cluster === undefined) return false;
  const url = targetOf(exchange, cluster);
  if (url === undefined) return false;
  forwardTo(exchange, cluster, url);
  return true;
}

function forwardTo(exchange: Exchange, cluster: Cluster, url: string): void {
  const { request, response, services } = exchange;
  const sent = open(exchange, url, cluster);
  let isAnswered = false;
  const giveUp = (reason: string): void => {
    if (isAnswered) return;
    isAnswered = true;
    limit.end();
    request.unpipe(sent);
    sent.destroy();
    fail(exchange, new Unavailable(reason));
  };
  // A replication is answered when it is complete, a query when its index is; by a node that may be lost before.
  const mayTakeLonger = (): boolean =>
    exchange.parts[0] === '_replicate'
      ? cluster.ownerUrl === url
      : isOfDatabase(exchange, cluster) && cluster.hosting.reached.isThere(url);
  const answerMs = services.config.number('cluster/forward_timeout_ms');
  const limit = new AnswerLimit(exchange, sent, answerMs, giveUp, mayTakeLonger);
  sent.on('response', (answer) => {
    if (isAnswered || response.headersSent || response.destroyed) return void answer.destroy();
    isAnswered = true;
    limit.end();
    relayOrFail(exchange, answer);
  });
  sent.on('upgrade', (answer, socket, head) => {
    if (isAnswered || exchange.tunnel === undefined) return void socket.destroy();
    isAnswered = true;
    limit.end();
    joinSockets(exchange, exchange.tunnel, answer, { socket, head });
  });
  // Once it has answered, the other node may read no more of the body; the answer tells by itself where it is broken off.
  sent.on('error', () => {
    const other = isAnswered || limit.isConnected ? undefined : otherHost(exchange, cluster, url);
    if (other === undefined) return giveUp('The node that has to answer this cannot be reached.');
    isAnswered = true;
    limit.end();
    forwardTo(exchange, cluster, other);
  });
  response.on('close', () => {
    isAnswered = true;
    limit.end();
    sent.destroy();
  });
  request.on('error', () => sent.destroy());
  request.once('close', () => request.complete || sent.destroy());
  // Another node is tried where this one is not there: nothing of the body may have been read then.
  limit.onConnect = () => request.pipe(sent);
}

/** Where another node is that has the database, where one of those that have it cannot be reached. */
function otherHost(exchange: Exchange, cluster: Cluster, url: string): string | undefined {
  if (!isOfDatabase(exchange, cluster)) return undefined;
  cluster.hosting.reached.noteUnreachable(url);
  try {
    const other = hostOf(exchange, cluster);
    return other === url ? undefined : other;
  } catch {
    return undefined;
  }
}

function relayOrFail(exchange: Exchange, answer: IncomingMessage): void {
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
}

/** Joins the connections of a client and of another node that has agreed to a WebSocket. */
function joinSockets(
  { response }: Exchange,
  client: NonNullable<Exchange['tunnel']>,
  { rawHeaders }: IncomingMessage,
  other: { socket: Duplex; head: Buffer },
): void {
  response.detachSocket(client.socket as IncomingMessage['socket']);
  response.statusCode = 101;
  const lines = ['HTTP/1.1 101 Switching Protocols'];
  for (let i = 0; i < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  client.socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  client.socket.write(other.head);
  other.socket.write(client.head);
  other.socket.pipe(client.socket).pipe(other.socket);
  const end = (): void => {
    client.socket.destroy();
    other.socket.destroy();
  };
  for (const each of [client.socket, other.socket]) each.on('error', end).on('close', end);
  client.socket.once('close', () => response.emit('close'));
}

function open(exchange: Exchange, url: string, cluster: Cluster): ClientRequest {
  const { request, rawPath, sender, services } = exchange;
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
      ...(exchange.tunnel && { connection: 'Upgrade', upgrade: 'websocket' }),
      ...(wantsFresh(exchange, services.config) && { [readsHeader]: 'fresh' }),
      ...asUser(exchange, cluster),
      [forwardedHeader]: [...passed(exchange, cluster), cluster.nodeName].join(' '),
      // Failed logins are counted for the client, and not for this node.
      [addressHeader]: sender,
      ...cluster.hosting.headers(),
    },
    // One that was kept could be closed by the other node at the same moment, and the request would be lost.
    agent: false,
  });
}

function relay(exchange: Exchange, answer: IncomingMessage): void {
  const { request, response } = exchange;
  const { rawHeaders, statusCode } = answer;
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!ofAnswersConnection.has(rawHeaders[i]!.toLowerCase()))
      headers.push(rawHeaders[i]!, rawHeaders[i + 1]!);
  // A client that keeps sending data that is not read is cut off some time after the answer.
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
    ([name]) => !name.startsWith(':') && !hopHeaders.has(name) && !nodeHeaders.has(name),
  );
  // HTTP/2 needs no length; without one, Node would send the body of a GET as if it were the next request.
  const isChunked = hasBody(request) && headers['content-length'] === undefined;
  return {
    host: String(headers[':authority'] ?? ''),
    ...Object.fromEntries(entries),
    ...(isChunked ? { 'transfer-encoding': 'chunked' } : {}),
  };
}

/** The nodes that a request has passed: none where a client says so. */
function passed(exchange: Exchange, cluster: Cluster): string[] {
  const names = exchange.header(forwardedHeader);
  return names !== undefined && isFromNode(exchange, cluster) ? names.split(' ') : [];
}

/** A node that asks for a user does so at the next one too. */
function asUser(exchange: Exchange, cluster: Cluster): Record<string, string> {
  const user = exchange.header(userHeader);
  return user !== undefined && isFromNode(exchange, cluster) ? { [userHeader]: user } : {};
}

/** Whether a request is for a database that some nodes may have only. */
const isOfDatabase = ({ parts }: Exchange, cluster: Cluster): boolean =>
  cluster.hosting.placements.size > 0 && namesMovable(parts);

/** Where a node is that has a database, if this one has not. Throws where none is there. */
function hostOf(exchange: Exchange, cluster: Cluster): string | undefined {
  const { registry } = exchange.services;
  const stream = registry.record(fromBytes(exchange.parts[0] ?? noBytes))?.stream ?? 0;
  if (cluster.hosting.isHosted(stream)) return undefined;
  const url = passed(exchange, cluster).length < passedMax ? cluster.hosting.hostUrl(stream) : undefined;
  if (url !== undefined) return url;
  const hosts = cluster.hosting.hostsOf(stream).join(', ');
  throw new Unavailable(`The database is on ${hosts}, and none of these nodes can be asked now.`);
}

/** Where the node is that has to answer; undefined where that is this one, or none is there. */
function targetOf(exchange: Exchange, cluster: Cluster): string | undefined {
  const [first = noBytes, node] = exchange.parts;
  if (isOfDatabase(exchange, cluster)) return hostOf(exchange, cluster);
  if (passed(exchange, cluster).length > 0) return undefined;
  if (ofOwner.has(first)) return cluster.ownerUrl;
  return first === '_node' && node !== undefined ? cluster.urlOf(fromBytes(node)) : undefined;
}
