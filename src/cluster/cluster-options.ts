import type { TrimOptions } from './trimming.js';

export interface ClusterOptions extends TrimOptions {
  node: string;
  /** Where other nodes reach this one. */
  advertise: string;
  secret: string;
  streams: number;
  /** NATS servers that keep a copy of each stream. */
  replicas: number;
  /** Whether every node needs the database of a name. */
  isEverywhere(name: string): boolean;
  /** Nodes that are to host a stream. */
  hosts(): number;
  timeoutMs(): number;
  /** How long copies are waited for that a write asks for. */
  copiesTimeoutMs(): number;
  /** Whether this node may do what is done once per cluster. */
  mayOwn(): boolean;
}
