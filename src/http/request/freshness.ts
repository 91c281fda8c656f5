import { fromBytes, noBytes } from '../../base/bytes.js';
import type { Cluster } from '../../cluster/cluster.js';
import type { Exchange } from '../exchange.js';

/** Asks for one request what `[cluster] reads = fresh` asks for all. */
const readsHeader = 'x-tuffet-reads';

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
  const isFresh = (exchange.header(readsHeader) ?? config.choice('cluster/reads')) === 'fresh';
  // A busy node may not have had the time to find out.
  if (cluster.isStale && !always.has(name))
    return cluster.whenCurrent().then(() => (isFresh ? freshen(exchange, cluster, name) : undefined));
  return isFresh ? freshen(exchange, cluster, name) : undefined;
}

/** The first stream has the accounts of users. */
async function freshen({ services }: Exchange, cluster: Cluster, name: string): Promise<void> {
  if (ofSeveral.has(name)) return await cluster.fresh();
  const known = services.registry.find(name)?.record.stream ?? 0;
  await Promise.all([
    cluster.fresh('catalogue'),
    ...[...new Set([0, known])].map((each) => cluster.fresh(each)),
  ]);
  const found = services.registry.find(name)?.record.stream ?? 0;
  if (found !== known && found !== 0) await cluster.fresh(found);
}
