import type { IncomingMessage } from 'node:http';

/** What operators, load balancers and other nodes ask a node of a cluster about itself. */
const ofNode = /^\/_(?:up|cluster(?:\/recover)?)\/?(?:\?|$)/;
const placesPath = '/_cluster_places';

/**
 * Whether a request has to wait while a node of a cluster closes its stores and opens them again. That takes as long as another
 * node's databases take to be copied: meanwhile the node says how it is, and that it takes part in no recovery.
 */
export function needsStores({ method, url = '/' }: Pick<IncomingMessage, 'method' | 'url'>): boolean {
  if (method === 'POST') return url !== placesPath;
  return !(method === 'GET' || method === 'HEAD') || !ofNode.test(url);
}
