import type { TrimOptions } from './trimming.js';

export interface ClusterOptions extends TrimOptions {
  node: string;
  /** Where other nodes reach this one. */
  advertise: string;
  secret: string;
  streams: number;
  /** NATS servers that keep a copy of each stream. */
  replicas: number;
  timeoutMs(): number;
  /** Whether this node may do what is done once per cluster. */
  mayOwn(): boolean;
}
