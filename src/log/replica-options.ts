import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import type { StreamTarget } from './stream-target.js';
import type { Stream, StreamLost } from './stream.js';

export interface ReplicaOptions {
  stream: Stream;
  target: StreamTarget;
  /** The name of this node. */
  node: string;
  runtime: Runtime;
  logger: Logger;
  timeoutMs(): number;
  /** The position of the catalogue that this node has applied. */
  cataloguePosition(): number;
  /** Resolves when this node has applied the catalogue up to there. */
  catalogueAt(position: number): Promise<void>;
  /** The stream cannot be followed any more. */
  onLost?(error: StreamLost): void;
}
