import type { Runtime, Timer } from '../base/runtime.js';
import type { StreamReplica } from '../log/stream-replica.js';
import type { StreamMeasure } from '../node/cluster-link.js';
import type { StreamPlacement } from '../node/stream-placement.js';
import type { Members } from './members.js';
import type { NatsServers } from './nats-connection.js';
import type { NatsStream } from './nats-stream.js';
import type { StreamName, StreamSources } from './stream-sources.js';

/** What operators see of a cluster: `GET /_cluster`. */
export interface ClusterStatus {
  name: string;
  /** The node that was asked. */
  node: string;
  /** The node that does what is done once per cluster. */
  owner: string | null;
  problem: string | null;
  nats: { is_connected: boolean; version: string };
  nodes: NodeStatus[];
  streams: StreamStatus[];
}

type NodeStatus = ReturnType<Members['list']>[number];

interface StreamStatus {
  stream: string;
  /** Null where the NATS servers do not tell. */
  epoch: string | null;
  first: number | null;
  last: number | null;
  /** The last message that this node has taken, and the last one that it has on disk in all of its stores; null where it does not host it. */
  position: number | null;
  stored: number | null;
  lag: number | null;
  /** The nodes that have it, and those that are copying it. */
  hosts: readonly string[];
  coming: readonly string[];
  problem: string | null;
}

/** Which nodes have which streams. */
interface StreamHosts {
  hostsOf(stream: number): readonly string[];
  readonly placements: ReadonlyMap<number, StreamPlacement>;
}

export interface Followed {
  stream: NatsStream;
  replica: StreamReplica;
}

/** How long the NATS servers are waited for. */
const answerMs = 2_000;

/** Looks at how far this node is in its streams. */
export class StatusReport {
  #measures: readonly StreamMeasure[] = [];

  constructor(
    private readonly followed: ReadonlyMap<StreamName, Followed>,
    private readonly members: Members,
    private readonly nats: NatsServers,
    private readonly runtime: Runtime,
    private readonly hosting: StreamHosts,
    private readonly sources: StreamSources,
  ) {}

  /** As they were when `streams` was last called. */
  get measures(): readonly StreamMeasure[] {
    return this.#measures;
  }

  async all(): Promise<Pick<ClusterStatus, 'nats' | 'nodes' | 'streams'>> {
    const { isConnected, version } = this.nats;
    const nats = { is_connected: isConnected, version };
    return { nats, nodes: this.members.list(), streams: await this.streams() };
  }

  async streams(): Promise<StreamStatus[]> {
    const all = this.sources.names.flatMap((name) => {
      const followed = this.followed.get(name);
      if (followed !== undefined) return [this.#describe(name, followed.stream, followed.replica)];
      // One that other nodes host.
      const isPlaced = name !== 'catalogue' && this.hosting.placements.has(name);
      return isPlaced ? [this.#describe(name, this.sources.get(name), undefined)] : [];
    });
    const streams = await Promise.all(all);
    this.#measures = streams.flatMap(({ stream, position, lag }) =>
      position === null ? [] : [{ stream, position, lag: lag ?? NaN }],
    );
    return streams;
  }

  async #describe(
    name: StreamName,
    stream: NatsStream,
    replica: StreamReplica | undefined,
  ): Promise<StreamStatus> {
    const info = await this.#within(stream.info('throw'));
    const placement = this.hosting.placements.get(Number(name));
    return {
      stream: String(name),
      epoch: info?.epoch ?? null,
      first: info?.first ?? null,
      last: info?.last ?? null,
      position: replica?.seq ?? null,
      stored: replica?.storedSeq ?? null,
      // What was taken meanwhile is not behind.
      lag: info === undefined || replica === undefined ? null : Math.max(0, info.last - replica.seq),
      hosts: this.hosting.hostsOf(Number(name)),
      coming: placement?.wanted.filter((node) => !placement.hosts.includes(node)) ?? [],
      problem: replica?.lost?.message ?? replica?.stuck ?? null,
    };
  }

  /** Undefined where the answer is late. */
  async #within<T>(answer: Promise<T>): Promise<T | undefined> {
    let timer: Timer | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = this.runtime.setIdleTimer(() => resolve(undefined), answerMs);
    });
    const first = await Promise.race([answer.catch(() => undefined), late]);
    timer?.cancel();
    return first;
  }
}
