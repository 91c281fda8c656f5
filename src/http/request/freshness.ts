import { fromBytes, noBytes } from '../../base/bytes.js';
import type { Cluster } from '../../cluster/cluster.js';
import type { Config } from '../../config/config.js';
import { catalogueHeader } from '../../cluster/blob-exchange.js';
import type { Exchange } from '../exchange.js';
import type { Services } from '../services.js';
import { isFromNode } from './from-node.js';
import { readsSeveralCopies } from './quorum.js';

/** Asks for one request what `[cluster] reads = fresh` asks for all. */
export const readsHeader = 'x-tuffet-reads';

/** What depends on this node alone: how it is, and what others ask it. */
const local: ReadonlySet<string> = new Set([
  '',
  '_up',
  '_cluster',
  '_cluster_blobs',
  '_cluster_copy',
  '_cluster_places',
  '_cluster_recover',
  '_utils',
]);
/** What reads databases that its body names, or all. */
const ofSeveral: ReadonlySet<string> = new Set(['_replicate', '_dbs_info']);
/** What a node answers even if it is cut off from the others. */
const always: ReadonlySet<string> = new Set([...local, '_membership', '_node']);

/**
 * In a cluster, resolves when a request sees all that was acknowledged before it, if it is to. Undefined where there is
 * nothing to wait for. Rejects where this node is cut off from the others.
 */
export function whenFresh(exchange: Exchange): Promise<void> | undefined {
  const { cluster, config } = exchange.services;
  if (cluster === undefined) return undefined;
  const name = fromBytes(exchange.parts[0] ?? noBytes);
  if (local.has(name)) return undefined;
  const isFresh = wantsFresh(exchange, config);
  const known = exchange.header(catalogueHeader);
  if (known !== undefined && Number(known) > 0 && isFromNode(exchange, cluster))
    return cluster.hosting
      .whenKnown(Number(known))
      .then(() => currentAndFresh(exchange, cluster, name, isFresh));
  return currentAndFresh(exchange, cluster, name, isFresh);
}

function currentAndFresh(
  exchange: Exchange,
  cluster: Cluster,
  name: string,
  isFresh: boolean,
): Promise<void> | undefined {
  // A busy node may not have had the time to find out.
  if (cluster.currency.mayLag && !always.has(name))
    return catchUp(exchange, cluster, name).then(() =>
      isFresh ? freshen(exchange, cluster, name) : undefined,
    );
  return isFresh ? freshen(exchange, cluster, name) : undefined;
}

/** After a pause of this node: sees to it that a request is answered by nothing older. */
async function catchUp({ services }: Exchange, cluster: Cluster, name: string): Promise<void> {
  await cluster.currency.whenCurrent();
  await cluster.currency.whenCaughtUp(
    ofSeveral.has(name) ? undefined : [0, streamOf(services, cluster, name)],
  );
}

/** Whether a request is to see all that was acknowledged before it: what a majority of copies has could be no more. */
export const wantsFresh = (exchange: Pick<Exchange, 'header' | 'query'>, config: Config): boolean =>
  (exchange.header(readsHeader) ?? config.choice('cluster/reads')) === 'fresh' ||
  readsSeveralCopies(exchange);

/** The stream of a database. A node that has it does the rest, where this one has not. */
function streamOf({ registry }: Services, cluster: Cluster, name: string): number {
  const stream = registry.record(name)?.stream ?? 0;
  return cluster.hosting.isHosted(stream) ? stream : 0;
}

/** The first stream has the accounts of users. */
async function freshen({ services }: Exchange, cluster: Cluster, name: string): Promise<void> {
  if (ofSeveral.has(name)) return await cluster.fresh();
  const known = streamOf(services, cluster, name);
  await Promise.all([
    cluster.fresh('catalogue'),
    ...[...new Set([0, known])].map((each) => cluster.fresh(each)),
  ]);
  const found = streamOf(services, cluster, name);
  if (found !== known && found !== 0) await cluster.fresh(found);
}
