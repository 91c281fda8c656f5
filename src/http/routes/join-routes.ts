import { badRequest } from '../../base/errors.js';
import { joinOptions, type JoinOrder } from '../../cluster/join.js';
import type { Config } from '../../config/config.js';
import type { Exchange } from '../exchange.js';
import type { ServerRoute } from './route.js';

/** What a node of a cluster asks a server that is to become one too: `add_node` of `/_cluster_setup`. */
export const joinRoutes: readonly ServerRoute[] = [
  { path: '/_cluster_join', allow: 'POST', access: 'server_admin', methods: { POST: join } },
];

/** The settings are stored, and the server is started anew with them. What it has must be nothing. */
async function join(exchange: Exchange): Promise<void> {
  const { services } = exchange;
  const { cluster, config, logger, becomeNode } = services;
  const {
    node_name: given,
    advertise,
    members,
    settings,
    cookie_secret: secret,
  } = checkOrder(await exchange.jsonObject());
  const node = config.text('cluster/node_name') || given;
  const fullName = node.includes('@') ? node : `tuffet@${node}`;
  if (cluster !== undefined) {
    const isSame = cluster.secret === settings['secret'] && config.text('cluster/name') === settings['name'];
    if (!isSame) throw badRequest('It is a node of another cluster.');
    return exchange.json(202, { ok: true, node: cluster.nodeName });
  }
  if (becomeNode === undefined)
    throw badRequest('It keeps its data in memory, or is part of another program: start it with --cluster.');
  if (members.includes(fullName))
    throw badRequest(`It has the name ${fullName} of another node: set [cluster] node_name.`);
  const { nats, ...others } = settings;
  // The last one makes the server a node: it starts with all of them, or alone.
  const options = Object.entries({ ...others, node_name: node, advertise, nats: nats! });
  const changes: Change[] = [
    ['chttpd_auth', 'secret', secret],
    ...options.flatMap(([key, value]): Change[] => (value === '' ? [] : [['cluster', key, value]])),
  ];
  for (const change of changes) config.checkChange(...change);
  await becomeNode.check({ ...settings, node_name: node });
  try {
    setAll(config, changes);
  } catch (error) {
    becomeNode.cancel();
    throw error;
  }
  logger.notice({ node: fullName, user: exchange.user.name }, 'this server becomes a node of a cluster');
  exchange.json(202, { ok: true, node: fullName });
  becomeNode.restart();
}

type Change = [section: string, key: string, value: string];

/** All of them, or none. */
function setAll(config: Config, changes: readonly Change[]): void {
  const before = changes.map(([section, key]) => config.givenValue(section, key));
  let done = 0;
  try {
    for (; done < changes.length; done++) config.set(...changes[done]!);
  } catch (error) {
    // The one that failed may be changed in memory.
    for (let at = done; at >= 0; at--) config.adopt(changes[at]![0], changes[at]![1], before[at] ?? null);
    throw error;
  }
}

function checkOrder(body: Record<string, unknown>): JoinOrder {
  const { node_name: node, advertise, members = [], settings, cookie_secret: secret } = body;
  const isText = (value: unknown): value is string => typeof value === 'string';
  if (!isText(node) || !/^[\w.@-]{1,64}$/.test(node))
    throw badRequest('`node_name` must be the name of a node.');
  if (!isText(advertise) || !URL.canParse(advertise)) throw badRequest('`advertise` must be a URL.');
  if (!isText(secret) || secret === '') throw badRequest('`cookie_secret` must be a string.');
  if (!Array.isArray(members) || !members.every(isText))
    throw badRequest('`members` must be an array of names of nodes.');
  const entries = Object.entries(Object(settings) as object);
  const known: ReadonlySet<string> = new Set(joinOptions);
  if (entries.some(([key, value]) => !known.has(key) || !isText(value)))
    throw badRequest('`settings` must hold options of [cluster].');
  const found = Object.fromEntries(entries) as Record<string, string>;
  if (!found['nats'] || !found['secret']) throw badRequest('`settings` must have `nats` and `secret`.');
  return { node_name: node, advertise, members, settings: found, cookie_secret: secret };
}
