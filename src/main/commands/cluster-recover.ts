import type { RecoveryReport } from '../../cluster/recovery.js';
import type { RemoteServer } from '../../operations/remote/remote-server.js';
import { columns } from './columns.js';

/** How long nodes may take to copy the databases of another one. */
const copyMs = 3_600_000;
const pollMs = 1_000;
/** How long the node that is asked may not answer. */
const silenceMs = 60_000;

const print = (text: string): void => void process.stdout.write(text);

/** Shows what is damaged; makes it anew where that is wanted, and waits until all nodes have taken it over. */
export async function recover(
  server: RemoteServer,
  _node: string,
  { yes, from }: { yes?: boolean | undefined; from?: string | undefined },
): Promise<number> {
  const query = from === undefined ? '' : `?from=${encodeURIComponent(from)}`;
  const report = await server.get<RecoveryReport>(`/_cluster/recover${query}`);
  print(describe(report));
  if (report.streams.length === 0) return report.copying.length === 0 ? 0 : await whenTakenOver(server);
  if (yes !== true) {
    print('Nothing was changed. --yes makes these streams anew.\n');
    return 1;
  }
  await server.post('/_cluster/recover', { from });
  print('The streams were made anew.\n');
  return await whenTakenOver(server);
}

function describe({ streams, silent, copying }: RecoveryReport): string {
  const parts = streams.map(({ stream, source, nodes }) => {
    const rows = nodes.map(({ node, epoch, seq, hash, is_whole: isWhole, loses, problem }) => [
      node,
      epoch,
      isWhole ? String(seq) : `${seq}, not whole`,
      hash,
      node === source ? 'the stream goes on from it' : `loses ${loses}`,
      problem ?? '',
    ]);
    return `Stream ${stream}\n${columns([['node', 'epoch', 'position', 'hash', '', ''], ...rows])}\n`;
  });
  if (streams.length === 0) parts.push('No stream is damaged.\n');
  if (copying.length > 0)
    parts.push(`Streams were made anew, and are being taken over by ${copying.join(', ')}.\n`);
  if (silent.length > 0)
    parts.push(`Does not answer: ${silent.join(', ')}. What only it has would be lost.\n`);
  return parts.join('');
}

async function whenTakenOver(server: RemoteServer): Promise<number> {
  let shown = '';
  let answeredMs = Date.now();
  for (const until = Date.now() + copyMs; Date.now() < until;) {
    const found = await server.get<RecoveryReport>('/_cluster/recover').catch((error: unknown) => {
      // It may open its stores again.
      if (Date.now() - answeredMs > silenceMs) throw error;
    });
    if (found !== undefined) answeredMs = Date.now();
    const { streams, copying, silent } = found ?? {
      streams: [],
      copying: ['the node that is asked'],
      silent: [],
    };
    const waiting = [...new Set([...copying, ...silent])].join(', ');
    if (streams.length === 0 && copying.length === 0) {
      print(
        `All nodes that answer write again.${silent.length > 0 ? ` Does not answer: ${silent.join(', ')}.` : ''}\n`,
      );
      return 0;
    }
    if (streams.length > 0 && copying.length === 0) {
      print(`${describe({ streams, copying, silent })}Run it again, with --yes.\n`);
      return 1;
    }
    if (waiting !== shown) print(`Waiting for ${waiting}\n`);
    shown = waiting;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  process.stderr.write('Not all nodes have taken over the streams in time; look at their logs.\n');
  return 1;
}
