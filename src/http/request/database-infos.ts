import { Unavailable } from '../../base/errors.js';
import { databaseInfo } from '../../node/database-info.js';
import type { Exchange } from '../exchange.js';
import { readsHeader, wantsFresh } from './freshness.js';

/** How long another node may take to answer. */
const answerMs = 30_000;

interface Described {
  key: string;
  info?: unknown;
}

/** What is known of databases, by their names. Other nodes are asked for those that this one does not have. */
export function databaseInfos(
  exchange: Exchange,
  names: readonly string[],
): Map<string, unknown> | Promise<Map<string, unknown>> {
  const { registry, cluster } = exchange.services;
  const infos = new Map<string, unknown>();
  const elsewhere = new Map<string, string[]>();
  for (const name of names) {
    const stream = registry.record(name)?.stream ?? 0;
    if (cluster === undefined || cluster.hosting.isHosted(stream)) {
      infos.set(name, databaseInfo(registry.database(name), registry.membership));
      continue;
    }
    const url = cluster.hosting.hostUrl(stream);
    if (url === undefined) throw new Unavailable(`No node that has the database ${name} can be asked now.`);
    elsewhere.set(url, [...(elsewhere.get(url) ?? []), name]);
  }
  if (elsewhere.size === 0) return infos;
  return askAll(exchange, elsewhere, infos);
}

async function askAll(
  exchange: Exchange,
  elsewhere: ReadonlyMap<string, readonly string[]>,
  infos: Map<string, unknown>,
): Promise<Map<string, unknown>> {
  const asked = [...elsewhere].map(async ([url, keys]) => await ask(exchange, url, keys));
  for (const each of await Promise.all(asked))
    for (const { key, info } of each) if (info) infos.set(key, info);
  return infos;
}

async function ask(exchange: Exchange, url: string, keys: readonly string[]): Promise<Described[]> {
  const { cluster, config } = exchange.services;
  const found: Described[] = [];
  const atOnce = config.number('chttpd/max_db_number_for_dbs_info_req');
  const headers = {
    ...cluster!.hosting.headersAs(exchange.user),
    ...(wantsFresh(exchange, config) && { [readsHeader]: 'fresh' }),
    'content-type': 'application/json',
  };
  for (let at = 0; at < keys.length; at += atOnce) {
    const body = JSON.stringify({ keys: keys.slice(at, at + atOnce) });
    const signal = AbortSignal.timeout(answerMs);
    const answer = await fetch(new URL('/_dbs_info', url), { method: 'POST', headers, body, signal }).catch(
      () => undefined,
    );
    if (answer?.status !== 200)
      throw new Unavailable('A node that has some of the databases cannot be asked now.');
    found.push(...((await answer.json()) as Described[]));
  }
  return found;
}
