import { badRequest, Unavailable } from '../base/errors.js';
import { assign, type HostedStream } from './assignment.js';
import type { Hosting } from './hosting.js';
import type { Members } from './members.js';

/** What `GET /_cluster/rebalance` shows. */
export interface RebalanceReport {
  /** How many nodes are to host a stream. */
  hosts: number;
  /** Nodes that streams are moved to. */
  nodes: string[];
  streams: StreamHosts[];
}

interface StreamHosts {
  stream: number;
  /** The nodes that have it now. */
  hosts: readonly string[];
  /** Those that are to host it, where these are copying it, or waiting for that. */
  coming: readonly string[];
  /** Those that have it, and are about to erase it. */
  leaving: readonly string[];
  /** The hosts that it would be given. */
  planned: readonly string[];
  /** Why it stays on all nodes. */
  fixed?: string;
}

/** Distributes streams over the nodes. */
export class Rebalancing {
  constructor(
    private readonly members: Members,
    private readonly hosting: Hosting,
    private readonly options: { streams: number; hosts(): number; isEverywhere(name: string): boolean },
  ) {}

  /** What would be moved; nothing to the node that is named, nor to those that are drained. */
  report(names: () => Iterable<[name: string, stream: number]>, without?: string): RebalanceReport {
    const fixed = this.#fixed(names());
    const nodes = this.#nodes(without);
    const movable = this.#streams().filter(({ stream }) => !fixed.has(stream));
    const planned = this.#plan(movable, nodes);
    const streams = this.#streams().map(({ stream, hosts }) => {
      const placement = this.hosting.placements.get(stream);
      const { wanted = hosts } = placement ?? {};
      const reason = fixed.get(stream);
      return {
        stream,
        hosts: this.hosting.hostsOf(stream),
        coming: wanted.filter((node) => placement?.hosts.includes(node) === false),
        leaving: this.#leaving(stream),
        planned: planned.get(stream) ?? hosts,
        ...(reason !== undefined && { fixed: reason }),
      };
    });
    return { hosts: this.options.hosts(), nodes, streams };
  }

  /** Begins to move what `report` shows. The nodes go on by themselves. */
  async begin(
    names: () => Iterable<[name: string, stream: number]>,
    without?: string,
  ): Promise<RebalanceReport> {
    const report = this.report(names, without);
    if (report.nodes.length === 0) throw badRequest('There is no node that streams could be moved to.');
    for (const { stream, planned } of report.streams) {
      const placement = this.hosting.placements.get(stream);
      const before = placement?.wanted ?? this.members.names().known;
      if (isSame(before, planned)) continue;
      const hosts = this.#following(stream);
      if (placement === undefined && hosts.length === 0)
        throw new Unavailable(`No node follows the stream ${stream} now.`);
      const step = { wanted: planned, hosts };
      await this.hosting.place(stream, placement?.version ?? 0, step);
    }
    return this.report(names, without);
  }

  /** Streams in which databases are that every node needs: earlier versions, or other settings, put them into any. */
  #fixed(names: Iterable<[name: string, stream: number]>): Map<number, string> {
    const fixed = new Map<number, string>();
    for (const [name, stream] of names)
      if (stream !== 0 && this.options.isEverywhere(name))
        fixed.set(stream, `every node needs the database ${name}`);
    return fixed;
  }

  /** The streams that can be moved, with the hosts that they have or are to have. */
  #streams(): HostedStream[] {
    const { known } = this.members.names();
    return Array.from({ length: Math.max(0, this.options.streams - 1) }, (_, at) => {
      const stream = at + 1;
      return { stream, hosts: this.hosting.placements.get(stream)?.wanted ?? known };
    });
  }

  #nodes(without: string | undefined): string[] {
    return this.members
      .list()
      .filter(({ name, is_there, is_drained }) => is_there && is_drained !== true && name !== without)
      .map(({ name }) => name);
  }

  /** All nodes host a stream, as long as there are no more than so many. */
  #plan(streams: readonly HostedStream[], nodes: readonly string[]): Map<number, readonly string[]> {
    const hosts = this.options.hosts();
    const { known } = this.members.names();
    const isPlaced = streams.some(({ stream }) => this.hosting.placements.has(stream));
    if (!isPlaced && known.length <= hosts) return new Map();
    return new Map(assign(streams, nodes, hosts).map((each) => [each.stream, each.hosts]));
  }

  /** Nodes that are there and have the stream. */
  #following(stream: number): string[] {
    return this.members
      .list()
      .filter(({ is_there, positions }) => is_there && positions?.[stream] !== undefined)
      .map(({ name }) => name);
  }

  #leaving(stream: number): string[] {
    return this.#following(stream).filter((node) => !this.hosting.isConcerned(stream, node));
  }
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((node) => other.includes(node));
