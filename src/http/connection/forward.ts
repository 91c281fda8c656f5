import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { Unavailable } from '../../base/errors.js';
import { fail } from '../answer/error-answer.js';
import { fromBytes, noBytes } from '../../base/bytes.js';
import type { Cluster } from '../../cluster/cluster.js';
import type { Exchange } from '../exchange.js';

/** What only the node knows that runs the replications of a cluster. */
const ofOwner: ReadonlySet<string> = new Set(['_scheduler']);

const ofConnection: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'upgrade',
  'proxy-connection',
]);

/** Marks a request that comes from another node: it is not forwarded again. */
const forwardedHeader = 'x-tuffet-forwarded';

/** Hands a request over to the node that can answer it, which asks for the login. Tells whether it has. */
export function forward(exchange: Exchange): boolean {
  const { cluster } = exchange.services;
  if (cluster === undefined || exchange.header(forwardedHeader) !== undefined) return false;
  const url = targetOf(exchange, cluster);
  if (url === undefined) return false;
  const { request, response, method, rawPath } = exchange;
  const { protocol, hostname, port } = new URL(url);
  const name = hostname.replace(/^\[|\]$/g, '');
  const headers = { ...forwardedHeaders(request.headers), [forwardedHeader]: cluster.nodeName };
  const target = {
    protocol,
    hostname: name,
    // By default the certificate would have to be the one of the host that the client has named.
    servername: isIP(name) === 0 ? name : '',
    port,
    path: rawPath,
    method,
    headers,
  };
  const sent = (protocol === 'https:' ? https : http).request(target, (answer) => {
    if (response.headersSent || response.destroyed) return void answer.destroy();
    response.writeHead(answer.statusCode!, answer.rawHeaders);
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  sent.on('error', () => {
    if (response.headersSent) response.destroy();
    else fail(exchange, new Unavailable('The node that has to answer this cannot be reached.'));
  });
  response.on('close', () => sent.destroy());
  request.pipe(sent);
  return true;
}

/** Those of a request that are not about its connection, nor in the form that HTTP/2 gives them. */
function forwardedHeaders(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  const entries = Object.entries(headers).filter(
    ([name]) => !name.startsWith(':') && !ofConnection.has(name),
  );
  return { host: String(headers[':authority'] ?? ''), ...Object.fromEntries(entries) };
}

/** Where the node is that has to answer; undefined where that is this one, or none is there. */
function targetOf({ parts }: Exchange, cluster: Cluster): string | undefined {
  const [first = noBytes, node] = parts;
  if (ofOwner.has(first)) return cluster.ownerUrl;
  return first === '_node' && node !== undefined ? cluster.urlOf(fromBytes(node)) : undefined;
}
