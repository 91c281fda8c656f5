import type { Cluster } from '../../cluster/cluster.js';
import type { Exchange } from '../exchange.js';
import { isFromNode } from './from-node.js';

/** How long another node may take to answer. What one that takes longer is busy with is not shown. */
const answerMs = 5_000;

/** What the nodes of a cluster are busy with; of a request from another node, this one alone. */
export async function activeTasks(exchange: Exchange): Promise<readonly unknown[]> {
  const { registry, cluster } = exchange.services;
  const own = registry.tasks.list();
  if (cluster === undefined || isFromNode(exchange, cluster)) return own;
  const others = cluster.members().all.flatMap((name) => cluster.urlOf(name) ?? []);
  const tasks = await Promise.all(others.map((url) => tasksOf(exchange, cluster, url)));
  return [...own, ...tasks.flat()];
}

async function tasksOf({ user }: Exchange, cluster: Cluster, url: string): Promise<readonly unknown[]> {
  try {
    const signal = AbortSignal.timeout(answerMs);
    const headers = cluster.hosting.headersAs(user);
    const answer = await fetch(new URL('/_active_tasks', url), { headers, signal });
    const tasks: unknown = answer.status === 200 ? await answer.json() : [];
    return Array.isArray(tasks) ? tasks : [];
  } catch {
    return [];
  }
}
