/** Databases that every node needs: its own, and those that replications and accounts are read from. They are in the first stream. */
export const isEverywhere = (name: string): boolean => name.slice(name.lastIndexOf('/') + 1).startsWith('_');

/** A stream, and the nodes that host it, or are to. */
export interface HostedStream {
  stream: number;
  hosts: readonly string[];
}

/**
 * Gives each stream so many hosts of the nodes, or all where there are fewer, so that all nodes have about as many. Hosts that
 * have the databases already are kept where that is possible.
 */
export function assign(
  streams: readonly HostedStream[],
  nodes: readonly string[],
  hostsWanted: number,
): HostedStream[] {
  const count = Math.min(hostsWanted, nodes.length);
  const loads = new Map(nodes.map((node) => [node, 0]));
  const byLoad = (some: readonly string[]): string[] =>
    [...some].sort((one, other) => loads.get(one)! - loads.get(other)! || (one < other ? -1 : 1));
  const add = (node: string, by: 1 | -1): void => void loads.set(node, loads.get(node)! + by);
  const assigned = streams.map(({ stream, hosts: before }) => {
    const kept = byLoad(nodes.filter((node) => before.includes(node)));
    const others = byLoad(nodes.filter((node) => !before.includes(node)));
    const hosts = new Set([...kept, ...others].slice(0, count));
    for (const node of hosts) add(node, 1);
    return { stream, before, hosts };
  });
  for (;;) {
    const order = byLoad(nodes);
    const [least, most] = [order[0]!, order.at(-1)!];
    if (order.length === 0 || loads.get(most)! - loads.get(least)! < 2) break;
    const movable = assigned.filter(({ hosts }) => hosts.has(most) && !hosts.has(least));
    // One that costs no copy is moved first.
    const moved = movable.find(({ before }) => before.includes(least)) ?? movable[0]!;
    moved.hosts.delete(most);
    moved.hosts.add(least);
    add(most, -1);
    add(least, 1);
  }
  return assigned.map(({ stream, hosts }) => ({ stream, hosts: [...hosts].sort() }));
}
