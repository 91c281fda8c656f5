import { badRequest, RequestError } from '../base/errors.js';
import type { Runtime } from '../base/runtime.js';
import type { Cluster } from './cluster.js';

/** What a node of a cluster has in common with the others, of `[cluster]`. */
export const joinOptions = [
  'nats',
  'nats_user',
  'nats_password',
  'nats_token',
  'nats_credentials_file',
  'nats_ca_file',
  'nats_cert_file',
  'nats_key_file',
  'nats_monitoring',
  'name',
  'secret',
  'streams',
  'replicas',
  'allow_unsafe_log',
] as const;

/** What a server is asked that is to become a node. */
export interface JoinOrder {
  node_name: string;
  advertise: string;
  /** The names of all nodes, which cannot be taken. */
  members: string[];
  /** Signs cookies, on all nodes. */
  cookie_secret: string;
  /** Of `[cluster]`, by the names of `joinOptions`. */
  settings: Record<string, string>;
}

export interface Joining {
  host: string;
  port: number;
  username: string;
  password: string;
}

const joinPath = '/_cluster_join';
/** How long the other server may take to answer, and to become a member. */
const answerMs = 20_000;
const memberMs = 90_000;
const pollMs = 200;

/** Makes another server a node of the cluster; resolves when it is. */
export async function addNode(
  cluster: Cluster,
  { host, port, username, password }: Joining,
  shared: Pick<JoinOrder, 'settings' | 'cookie_secret'>,
  runtime: Runtime,
): Promise<string> {
  const url = addressOf(cluster, host, port);
  if (url === new URL(cluster.advertised).origin)
    throw badRequest('This server is a node of the cluster already.');
  const name = nameFor(cluster, host, port);
  const order: JoinOrder = { node_name: name, advertise: url, members: cluster.members().known, ...shared };
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  const joined = await ask(url, order, `Basic ${credentials}`);
  if (joined === cluster.nodeName) throw badRequest(`The server at ${url} is this node, or has its name.`);
  for (const end = runtime.monotonicMs() + memberMs; runtime.monotonicMs() < end;) {
    if (cluster.members().all.includes(joined) && cluster.isServing(joined)) return joined;
    await runtime.sleep(pollMs);
  }
  throw new RequestError(
    'service_unavailable',
    `The server at ${url} has the settings, but has not become a member as ${joined} within ${memberMs / 1_000} s; its log says why.`,
  );
}

/** Over TLS where the nodes of the cluster use that. */
function addressOf(cluster: Cluster, host: string, port: number): string {
  const protocol = cluster.advertised.startsWith('https:') ? 'https' : 'http';
  const name = host.includes(':') ? `[${host}]` : host;
  const url = URL.canParse(`${protocol}://${name}:${port}`)
    ? new URL(`${protocol}://${name}:${port}`)
    : undefined;
  if (
    url === undefined ||
    url.pathname !== '/' ||
    url.username !== '' ||
    url.search !== '' ||
    url.hash !== ''
  )
    throw badRequest('`host` must be the name or the address of a host.');
  return url.origin;
}

/** Several nodes may be on one host. */
function nameFor(cluster: Cluster, host: string, port: number): string {
  const name = host.replace(/[^\w.-]/g, '-').slice(0, 50);
  const { known } = cluster.members();
  const isTaken = known.includes(`tuffet@${name}`);
  return isTaken ? `${name}-${port}` : name;
}

async function ask(url: string, order: JoinOrder, authorization: string): Promise<string> {
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(url + joinPath, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(order),
      redirect: 'error',
      signal: AbortSignal.timeout(answerMs),
    });
    text = await answer.text();
  } catch (error) {
    const { message, cause } = error as Error;
    throw badRequest(
      `The server at ${url} cannot be reached: ${cause instanceof Error ? cause.message : message}.`,
    );
  }
  const { node, reason } = parse(text);
  if (answer.status === 401 || answer.status === 403)
    throw badRequest(`The server at ${url} refuses the name and password.`);
  if (answer.status === 202 && typeof node === 'string') return node;
  const isOurs = answer.headers.get('server')?.startsWith('Tuffet/') === true && answer.status !== 404;
  throw badRequest(
    isOurs && typeof reason === 'string'
      ? `The server at ${url} cannot join: ${reason}`
      : `The server at ${url} is not a Tuffet server that can join a cluster: it answered ${answer.status}.`,
  );
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
