/**
 * Many listeners to one feed, in a process of their own. Documents are called `d` and a number; each listener notes the
 * numbers in the order in which they come, and in the end they are compared with what is right.
 */
import net from 'node:net';

const [, , host = '', port = '0', path = '', count = '0'] = process.argv;

interface Listener {
  rest: string;
  begun: boolean;
  numbers: number[];
}

const listeners: Listener[] = [];
let ready = 0;

function say(message: object): void {
  process.send!(message);
}

function listen(): void {
  const listener: Listener = { rest: '', begun: false, numbers: [] };
  listeners.push(listener);
  const socket = net.connect({ host, port: Number(port) });
  socket.on('data', (data) => {
    const lines = (listener.rest + data.toString('latin1')).split('\n');
    listener.rest = lines.pop()!;
    for (const line of lines) {
      if (!listener.begun && line === '\r') {
        listener.begun = true;
        if (++ready === listeners.length) say({ ready: true });
      }
      const at = line.indexOf('"id":"d');
      if (at >= 0) listener.numbers.push(parseInt(line.slice(at + 7), 10));
    }
  });
  socket.on('error', (error) => say({ failed: error.message }));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: application/json\r\n\r\n`);
}

/** What is wrong with what a listener heard; undefined if nothing is. `shards` has the numbers of each in their order. */
function faultOf(numbers: readonly number[], shards: readonly number[][]): string | undefined {
  const shardOf = new Map(shards.flatMap((each, shard) => each.map((number) => [number, shard] as const)));
  const heard = shards.map((): number[] => []);
  for (const number of numbers) {
    const shard = shardOf.get(number);
    if (shard === undefined) return `d${number} was never written`;
    heard[shard]!.push(number);
  }
  for (const [shard, expected] of shards.entries()) {
    const got = heard[shard]!;
    if (got.length !== expected.length) return `${got.length} of ${expected.length} changes of a shard`;
    const at = expected.findIndex((number, i) => got[i] !== number);
    if (at >= 0) return `d${got[at]} where d${expected[at]} should be`;
  }
  return undefined;
}

process.on('message', ({ shards }: { shards?: number[][] }) => {
  if (shards === undefined) {
    say({ heard: Math.min(...listeners.map(({ numbers }) => numbers.length)) });
    return;
  }
  const faults = listeners
    .map(({ numbers }) => faultOf(numbers, shards))
    .filter((fault) => fault !== undefined);
  say({ faults: faults.slice(0, 5), listeners: listeners.length });
});
process.on('disconnect', () => process.exit());
for (let i = 0; i < Number(count); i++) listen();
