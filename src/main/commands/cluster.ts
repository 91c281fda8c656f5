import type { ClusterStatus } from '../../cluster/status.js';
import { RemoteServer } from '../../operations/remote/remote-server.js';
import { recover } from './cluster-recover.js';
import { moveStreams, rebalance } from './cluster-rebalance.js';
import { columns } from './columns.js';
import { readArguments, wrongUse } from './command-arguments.js';

const usage = `Usage: tuffet cluster status [--json]
       tuffet cluster drain NODE [--undo] [--move]
       tuffet cluster remove NODE
       tuffet cluster rebalance [--yes]
       tuffet cluster recover [--from NODE] [--yes]

Looks at a cluster, and prepares it for the loss of a node. Any of its nodes can be asked.

  --url URL     http://NAME:PASSWORD@HOST:5984, of a node and a server admin; or TUFFET_URL (default
                http://127.0.0.1:5984)

  status        nodes, streams, how far the node that is asked is in each, and its lag. --json prints it as JSON.
                Exit code: 0 when all nodes are there and none has a problem, 1 otherwise
  drain         load balancers turn away from a node (/_up answers 404), and it hands over what is done once per cluster.
                Returns when that is done; then the node can be stopped. --undo takes it back. --move moves its
                streams to other nodes before, where there are more nodes than [cluster] hosts
  remove        a node that is stopped, and will not come back, does not count any more: attachments need a majority of
                the others. If it is started again all the same, it counts again
  recover       after a stream was lost, restored from a backup or created anew, nodes do not write to it. Shows how far each
                node has it, and what the others would lose. --yes makes the stream anew from the node with the
                longest history, or the one that --from names, and returns when all nodes write again
  rebalance     shows which nodes would host which streams, so that each has [cluster] hosts of them. --yes moves them, and
                returns when that is done. It may be interrupted: the nodes go on by themselves
`;

const actions: Readonly<
  Record<string, (server: RemoteServer, node: string, flags: Flags) => Promise<number>>
> = { status, drain, remove, rebalance, recover };

interface Flags {
  json?: boolean | undefined;
  undo?: boolean | undefined;
  yes?: boolean | undefined;
  move?: boolean | undefined;
  from?: string | undefined;
}

export async function cluster(args: string[]): Promise<number> {
  const given = readArguments('cluster', usage, args, {
    url: { type: 'string' },
    json: { type: 'boolean' },
    undo: { type: 'boolean' },
    yes: { type: 'boolean' },
    move: { type: 'boolean' },
    from: { type: 'string' },
  });
  if (given === undefined) return 0;
  const [action = '', node = '', ...more] = given.positionals;
  const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (run === undefined) throw wrongUse('cluster', 'Say status, drain, remove, rebalance or recover.');
  const needsNode = run === drain || run === remove;
  if ((node !== '') !== needsNode || more.length > 0)
    throw wrongUse(
      'cluster',
      needsNode ? `${action} needs the name of one node.` : `${action} takes no name.`,
    );
  const {
    url = process.env['TUFFET_URL'] || 'http://127.0.0.1:5984',
    json,
    undo,
    yes,
    move,
    from,
  } = given.values;
  const server = new RemoteServer(url);
  return await run(server, fullName(node), { json, undo, yes, move, from: from && fullName(from) });
}

const fullName = (node: string): string => (node.includes('@') || node === '' ? node : `tuffet@${node}`);

const print = (text: string): void => void process.stdout.write(text);

async function status(server: RemoteServer, _node: string, { json }: Flags): Promise<number> {
  const found = await server.get<ClusterStatus>('/_cluster');
  print(json ? `${JSON.stringify(found, null, 2)}\n` : report(found));
  const isWhole =
    found.nodes.every(({ is_there, problem }) => is_there && !problem) && found.problem === null;
  return isWhole ? 0 : 1;
}

function report({ name, node, owner, problem, nats, nodes, streams }: ClusterStatus): string {
  const state = ({ is_there, silent_ms }: (typeof nodes)[number]): string => {
    if (is_there) return 'there';
    return silent_ms === null ? 'not heard of' : `silent for ${Math.round(silent_ms / 1000)} s`;
  };
  const table = [
    ['node', 'state', 'address', '', ''],
    ...nodes.map((each) => [
      each.name,
      state(each),
      each.url ?? '',
      each.name === owner ? 'owner' : '',
      each.name === node ? '' : (each.problem ?? ''),
    ]),
  ];
  const places = [
    ['stream', 'epoch', 'first', 'last', 'position', 'on disk', 'lag', 'hosts', ''],
    ...streams.map(({ stream, epoch, first, last, position, stored, lag, problem: trouble, ...placed }) => [
      ...[stream, epoch, first, last, position, stored, lag].map((value) => String(value ?? '?')),
      hostNames(placed, nodes.length),
      trouble ?? '',
    ]),
  ];
  return `Cluster ${name}, as ${node} sees it. NATS ${nats.version}: ${nats.is_connected ? 'connected' : 'not connected'}.
${problem === null ? '' : `Problem: ${problem}\n`}
${columns(table)}
${columns(places)}`;
}

function hostNames(
  { hosts, coming }: Pick<ClusterStatus['streams'][number], 'hosts' | 'coming'>,
  nodes: number,
): string {
  const names = hosts.length === nodes ? 'all' : hosts.join(' ');
  return coming.length === 0 ? names : `${names} (copying: ${coming.join(' ')})`;
}

/** Longer than another node takes to become the owner. */
const handOverMs = 60_000;
const pollMs = 500;

async function drain(server: RemoteServer, node: string, { undo, move }: Flags): Promise<number> {
  const path = `/_node/${encodeURIComponent(node)}/_config/couchdb/maintenance_mode`;
  await server.put(path, undo ? 'false' : 'true');
  if (undo) {
    print(`${node} takes part again.\n`);
    return 0;
  }
  print(`${node} answers 404 at /_up.\n`);
  if (move && (await moveStreams(server, node)) !== 0) return 1;
  for (const until = Date.now() + handOverMs; Date.now() < until;) {
    const { owner, nodes } = await server.get<ClusterStatus>('/_cluster');
    if (owner !== node) {
      print(`${owner ?? 'No node'} does what is done once per cluster. ${node} can be stopped.\n`);
      return 0;
    }
    if (nodes.filter(({ is_there }) => is_there).length === 1) break;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  process.stderr.write(`No other node has taken over from ${node}.\n`);
  return 1;
}

async function remove(server: RemoteServer, node: string): Promise<number> {
  await server.send('DELETE', `/_cluster/nodes/${encodeURIComponent(node)}`);
  print(`${node} does not count any more.\n`);
  return 0;
}
