import { createHash, timingSafeEqual } from 'node:crypto';
import { catalogueHeader, nodeHeader, secretHeader, userHeader } from '../../cluster/blob-exchange.js';
import type { Cluster } from '../../cluster/cluster.js';

/** Where a request came from that another node forwards. Believed only of a node that knows the secret of the cluster. */
export const addressHeader = 'x-tuffet-client-address';

/** Marks a request that comes from another node, with the names of those that it has passed. */
export const forwardedHeader = 'x-tuffet-forwarded';

/** What one node says to another: no client says it, and functions of design documents neither see it nor set it. */
export const nodeHeaders: ReadonlySet<string> = new Set([
  addressHeader,
  forwardedHeader,
  secretHeader,
  nodeHeader,
  userHeader,
  catalogueHeader,
]);

interface Headers {
  header(name: string): string | undefined;
}

/** Whether a node of the cluster sends a request. Compared in the same time whatever is given. */
export function isFromNode(request: Headers, cluster: Pick<Cluster, 'secret'>): boolean {
  const [given, own] = [request.header(secretHeader) ?? '', cluster.secret].map((text) =>
    createHash('sha256').update(text).digest(),
  );
  return timingSafeEqual(given!, own!);
}

/** The address of the client of a request that another node has forwarded; undefined for all others. */
export function forwardedAddress(
  request: Headers,
  cluster: Pick<Cluster, 'secret'> | undefined,
): string | undefined {
  if (cluster === undefined) return undefined;
  const address = request.header(addressHeader);
  return address !== undefined && isFromNode(request, cluster) ? address : undefined;
}
