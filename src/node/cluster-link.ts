import type { Bytes } from '../base/bytes.js';
import type { UserContext } from '../base/user-context.js';
import type { BlobStore } from '../blobs/blob-store.js';
import type { Appended } from '../log/log.js';
import type { Lease, LeaseCommand } from './lease.js';
import type { StreamTarget } from '../log/stream-target.js';
import type { StreamGroups } from './stream-groups.js';
import type { StreamPlacement } from './stream-placement.js';

/** What the databases of a node need of the cluster that it belongs to. */
export interface ClusterLink {
  /** The name of this node. */
  readonly nodeName: string;
  /** Where this node is reached. */
  readonly advertised: string;
  /** Whether this node does what is done once per cluster. */
  readonly isOwner: boolean;
  /** The name of the node that does; empty where none has done so yet. */
  readonly owner: string;
  /** Whether this node does it for the databases of a stream. */
  isOwnerOf(stream: number): boolean;
  readonly hosting: HostedStreams;
  /** Which nodes host a stream was changed. */
  placed(): void;
  /** The stream of a new database. */
  streamFor(name: string): number;
  send(stream: number | 'catalogue', command: Bytes): Promise<Appended<unknown>>;
  /** Resolves when this node has applied everything that was acknowledged before, by whichever node. */
  fresh(stream: number | 'catalogue'): Promise<void>;
  /** The catalogue is applied up to there. */
  catalogueApplied(position: number): void;
  /** A node has asked for the lease, or renewed it: who has it now. */
  leased(asked: LeaseCommand, now: Lease): void;
  readonly blobs: {
    /** Resolves when a majority of the hosts of a stream has these blobs. */
    spread(digests: readonly string[], stream: number): Promise<void>;
    /** Resolves when this node has these blobs of a stream, or no node has. */
    bring(digests: readonly string[], stream: number): Promise<void>;
  };
  /** Begins to apply streams; resolves when all is applied that they have by now. */
  start(targets: ClusterTargets): Promise<void>;
  /** Ends that. */
  stop(): Promise<void>;
  /** Why this node should not be asked, if so. */
  readonly problem: string | undefined;
  members(): { all: string[]; known: string[] };
  /** How far this node is in each stream, as it was last looked at. */
  readonly report: { measures: readonly StreamMeasure[] };
}

/** Which nodes have which databases. */
interface HostedStreams {
  /** Whether this node has the databases of a stream, and serves them. */
  isHosted(stream: number): boolean;
  /** The nodes that have the databases of a stream. */
  hostsOf(stream: number): readonly string[];
  /** Where one of those is reached that serves them, if that is another node and it is there. */
  hostUrl(stream: number): string | undefined;
  /** Headers with which another node does what a user may do. */
  headersAs(user: UserContext): Record<string, string>;
}

export interface StreamMeasure {
  stream: string;
  /** The last message that is applied here. */
  position: number;
  /** Messages of the stream behind it. */
  lag: number;
}

/** What streams are applied to. */
export interface ClusterTargets {
  catalogue: StreamTarget;
  cataloguePosition: number;
  /** Who does what is done once per cluster, by what is applied so far. */
  lease(): Lease;
  groups(stream: number, bringBlobs: (digests: readonly string[]) => Promise<void>): StreamTarget;
  blobs: BlobStore;
  /** The names of nodes that do not count any more. */
  removed(): ReadonlySet<string>;
  /** The streams that some nodes host; all nodes host the others. */
  placements(): ReadonlyMap<number, StreamPlacement>;
  /** Of single streams, which come and go. */
  streamGroups: StreamGroups;
  /** Whether the node had nothing when it was started. */
  isNew: boolean;
}
