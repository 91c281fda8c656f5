import type { RebalanceReport } from '../../cluster/rebalancing.js';
import type { RemoteServer } from '../../operations/remote/remote-server.js';
import { columns } from './columns.js';

const pollMs = 1_000;
/** How long nodes may take to copy the databases of streams. */
const moveMs = 24 * 3_600_000;
/** How long the node that is asked may not answer. */
const silenceMs = 60_000;

type StreamHosts = RebalanceReport['streams'][number];

const print = (text: string): void => void process.stdout.write(text);

/** Shows which streams would be moved; moves them where that is wanted. */
export async function rebalance(
  server: RemoteServer,
  _node: string,
  { yes }: { yes?: boolean | undefined },
): Promise<number> {
  const report = await server.get<RebalanceReport>('/_cluster/rebalance');
  const moves = report.streams.filter(isMoved);
  const underWay = report.streams.filter(isUnderWay);
  print(describe(report, moves));
  if (moves.length === 0 && underWay.length === 0) return 0;
  if (yes !== true && moves.length > 0) {
    print('Nothing was changed. --yes moves these streams.\n');
    return 1;
  }
  return await moveStreams(server);
}

/** Moves streams, away from one node where that is named, and waits until they are moved. */
export async function moveStreams(server: RemoteServer, without?: string): Promise<number> {
  await server.post('/_cluster/rebalance', { without });
  const query = without === undefined ? '' : `?without=${encodeURIComponent(without)}`;
  const shown = new Map<number, string>();
  let answeredMs = Date.now();
  for (const until = Date.now() + moveMs; Date.now() < until;) {
    const report = await server
      .get<RebalanceReport>(`/_cluster/rebalance${query}`)
      .catch((error: unknown) => {
        if (Date.now() - answeredMs > silenceMs) throw error;
      });
    if (report !== undefined) {
      answeredMs = Date.now();
      for (const each of report.streams) showProgress(each, shown);
      if (!report.streams.some(isUnderWay)) return ended(report, without);
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  process.stderr.write('Not all streams were moved in time; look at the logs of the nodes.\n');
  return 1;
}

function ended({ streams }: RebalanceReport, without: string | undefined): number {
  const left = streams.filter(({ hosts }) => without !== undefined && hosts.includes(without));
  if (left.length === 0) {
    print('All streams are where they belong.\n');
    return 0;
  }
  const numbers = left.map(({ stream }) => stream).join(', ');
  print(`${without} goes on hosting ${numbers}: there are not more nodes than [cluster] hosts.\n`);
  return 0;
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((node) => other.includes(node));

/** Whether other hosts would be given to a stream than it has, or is about to have. */
const isMoved = ({ hosts, coming, leaving, planned, fixed }: StreamHosts): boolean =>
  fixed === undefined && coming.length === 0 && leaving.length === 0 && !isSame(hosts, planned);

const isUnderWay = ({ coming, leaving }: StreamHosts): boolean => coming.length > 0 || leaving.length > 0;

function describe({ hosts, nodes, streams }: RebalanceReport, moves: readonly StreamHosts[]): string {
  const fixed = streams.flatMap(({ stream, fixed: reason }) =>
    reason === undefined ? [] : [`Stream ${stream} stays on all nodes: ${reason}.\n`],
  );
  const underWay = streams.filter(isUnderWay).map((each) => `${progressOf(each)}\n`);
  if (moves.length === 0)
    return `${fixed.join('')}${underWay.join('')}${underWay.length === 0 ? 'There is nothing to move.\n' : ''}`;
  const rows = moves.map(({ stream, hosts: now, planned }) => [
    String(stream),
    now.length >= nodes.length && nodes.length > hosts ? 'all' : now.join(' '),
    planned.join(' '),
  ]);
  return `${fixed.join('')}${underWay.join('')}${columns([['stream', 'hosts now', 'hosts then'], ...rows])}`;
}

function progressOf({ stream, hosts, coming, leaving }: StreamHosts): string {
  if (coming.length > 0) return `Stream ${stream}: ${coming.join(', ')} copying it from ${hosts.join(', ')}`;
  if (leaving.length > 0) return `Stream ${stream}: ${leaving.join(', ')} erasing it`;
  return `Stream ${stream}: on ${hosts.join(', ')}`;
}

/** Prints what has changed of a stream that is moved. */
function showProgress(each: StreamHosts, shown: Map<number, string>): void {
  const text = progressOf(each);
  const before = shown.get(each.stream);
  if (before === text || (before === undefined && !isUnderWay(each))) return;
  shown.set(each.stream, text);
  print(`${text}\n`);
}
