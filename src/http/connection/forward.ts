import http from 'node:http';
import https from 'node:https';
import { Unavailable } from '../../base/errors.js';
import { fail } from '../answer/error-answer.js';
import { fromBytes, noBytes } from '../../base/bytes.js';
import type { Cluster } from '../../cluster/cluster.js';
import type { Exchange } from '../exchange.js';

/** What only the node knows that runs the replications of a cluster. */
const ofOwner: ReadonlySet<string> = new Set(['_scheduler']);

/** Marks a request that comes from another node: it is not forwarded again. */
const forwardedHeader = 'x-tuffet-forwarded';

/** Hands a request over to the node that can answer it, which asks for the login. Tells whether it has. */
export function forward(exchange: Exchange): boolean {
  const { cluster } = exchange.services;
  if (cluster === undefined || exchange.header(forwardedHeader) !== undefined) return false;
  const url = targetOf(exchange, cluster);
  if (url === undefined) return false;
  const { request, response, method, rawPath } = exchange;
  const headers = { ...request.headers, [forwardedHeader]: cluster.nodeName };
  const { protocol, hostname, port } = new URL(url);
  const target = {
    protocol,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    path: rawPath,
    method,
    headers,
  };
  const sent = (protocol === 'https:' ? https : http).request(target, (answer) => {
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

/** Where the node is that has to answer; undefined where that is this one, or none is there. */
function targetOf({ parts }: Exchange, cluster: Cluster): string | undefined {
  const [first = noBytes, node] = parts;
  if (ofOwner.has(first)) return cluster.ownerUrl;
  return first === '_node' && node !== undefined ? cluster.urlOf(fromBytes(node)) : undefined;
}
