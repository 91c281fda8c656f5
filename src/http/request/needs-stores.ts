import type { IncomingMessage } from 'node:http';

/** What operators, load balancers and other nodes ask a node of a cluster about itself. */
const ofNode = /^\/_(?:up|cluster(?:\/recover)?)\/?(?:\?|$)/;
const placesPath = '/_cluster_places';
/** What a node offers to others from stores that are not open. */
const offered = /^\/_cluster_(?:copy|blobs\/[0-9a-f]+)$/;

/**
 * Whether a request has to wait while a node of a cluster closes its stores and opens them again. That takes as long as another
 * node's databases take to be copied: meanwhile the node says how it is, and that it takes part in no recovery, and may offer
 * what it has.
 */
export function needsStores(
  { method, url = '/' }: Pick<IncomingMessage, 'method' | 'url'>,
  isOffering: boolean,
): boolean {
  if (method === 'POST') return url !== placesPath;
  if (isOffering && method === 'GET' && offered.test(url)) return false;
  return !(method === 'GET' || method === 'HEAD') || !ofNode.test(url);
}
