import type { Bytes } from '../base/bytes.js';
import type { BlobStore } from '../blobs/blob-store.js';
import type { Appended } from '../log/log.js';
import type { Lease, LeaseCommand } from './lease.js';
import type { StreamTarget } from '../log/stream-target.js';

/** What the databases of a node need of the cluster that it belongs to. */
export interface ClusterLink {
  /** The name of this node. */
  readonly nodeName: string;
  /** Whether this node does what is done once per cluster. */
  readonly isOwner: boolean;
  /** The stream of a new database. */
  streamFor(name: string): number;
  send(stream: number | 'catalogue', command: Bytes): Promise<Appended<unknown>>;
  /** Resolves when this node has applied everything that was acknowledged before, by whichever node. */
  fresh(stream: number | 'catalogue'): Promise<void>;
  /** The catalogue is applied up to there. */
  catalogueApplied(position: number): void;
  /** A node has asked for the lease, or renewed it: who has it now. */
  leased(asked: LeaseCommand, now: Lease): void;
  /** Resolves when a majority of nodes has these blobs. */
  spreadBlobs(digests: readonly string[]): Promise<void>;
  /** Resolves when this node has these blobs, or no node has. */
  bringBlobs(digests: readonly string[]): Promise<void>;
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
  lease: Lease;
  groups(stream: number, bringBlobs: (digests: readonly string[]) => Promise<void>): StreamTarget;
  blobs: BlobStore;
  /** The names of nodes that do not count any more. */
  removed(): ReadonlySet<string>;
  /** Whether the node had nothing when it was started. */
  isNew: boolean;
}
