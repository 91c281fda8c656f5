import type { Runtime } from '../base/runtime.js';
import type { Member, Members } from './members.js';
import { rotated } from './stream-copy.js';

/** How long a node is not asked that did not accept a connection: it has been found to be gone by then, if it is. */
const unreachableMs = 4_000;

/** Chooses the node that requests are forwarded to: the same one as long as it is there. */
export class ReachedHosts {
  /** Nodes that are not asked until then, by their addresses. */
  readonly #unreachable = new Map<string, number>();

  constructor(
    private readonly node: string,
    private readonly members: Pick<Members, 'others'>,
    private readonly runtime: Runtime,
  ) {}

  /** A node did not accept a connection. */
  noteUnreachable(url: string): void {
    this.#unreachable.set(url, this.runtime.monotonicMs() + unreachableMs);
  }

  /** Whether the node at an address was heard of a moment ago. */
  isThere(url: string): boolean {
    return this.members.others().some((member) => member.url === url);
  }

  /** Where one of these hosts is reached that serves a stream, if another node than this one does. */
  urlFor(stream: number, hosts: readonly string[]): string | undefined {
    const now = this.runtime.monotonicMs();
    const others = this.members.others();
    const isAsked = ({ url, serves }: Member): boolean =>
      serves.includes(stream) && (this.#unreachable.get(url) ?? 0) <= now;
    const serving = rotated(hosts, this.node)
      .flatMap((host) => others.find(({ name }) => name === host) ?? [])
      .filter(isAsked);
    return (serving.find(({ problem }) => problem === null) ?? serving[0])?.url;
  }
}
