import type { Runtime, Timer } from '../base/runtime.js';
import type { StreamReplica } from '../log/stream-replica.js';
import type { StreamMeasure } from '../node/cluster-link.js';
import type { Members } from './members.js';
import type { NatsServers } from './nats-connection.js';
import type { NatsStream } from './nats-stream.js';

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
  /** The last message that this node has taken, and the last one that it has on disk in all of its stores. */
  position: number;
  stored: number | null;
  lag: number | null;
  problem: string | null;
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
    private readonly followed: ReadonlyMap<string | number, Followed>,
    private readonly members: Members,
    private readonly nats: NatsServers,
    private readonly runtime: Runtime,
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
    const all = [...this.followed].map(([name, each]) => this.#describe(String(name), each));
    const streams = await Promise.all(all);
    this.#measures = streams.map(({ stream, position, lag }) => ({ stream, position, lag: lag ?? NaN }));
    return streams;
  }

  async #describe(name: string, { stream, replica }: Followed): Promise<StreamStatus> {
    const { seq: position, storedSeq, lost, stuck } = replica;
    const info = await this.#within(stream.info('throw'));
    return {
      stream: name,
      epoch: info?.epoch ?? null,
      first: info?.first ?? null,
      last: info?.last ?? null,
      position,
      stored: storedSeq ?? null,
      // What was taken meanwhile is not behind.
      lag: info === undefined ? null : Math.max(0, info.last - replica.seq),
      problem: lost?.message ?? stuck ?? null,
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
