import type { Runtime } from '../base/runtime.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { PasswordHasher } from '../auth/passwords.js';
import type { Logger } from '../base/logger.js';
import type { TimerWheel } from '../base/timer-wheel.js';
import type { BatchWrites } from '../documents/batch-writes.js';
import type { Cluster } from '../cluster/cluster.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Uuids } from '../node/uuids.js';
import type { Config } from '../config/config.js';
import type { Replicator } from '../replication/replicator.js';
import type { ScriptHost } from '../script/script-host.js';
import type { Compression } from './answer/compression.js';
import type { ProxyAndCorsPolicy } from './answer/proxy-and-cors-policy.js';
import type { WholeAnswers } from './answer/whole-answers.js';
import type { MemoryBudgets } from './connection/memory-budgets.js';
import type { Metrics } from './metrics/metrics.js';

/** All that handlers work with. */
export interface Services {
  config: Config;
  runtime: Runtime;
  /** Changes when the node is restarted. */
  registry: DatabaseRegistry;
  /** The cluster that the server is a node of. */
  cluster?: Cluster;
  authenticator: Authenticator;
  hasher: PasswordHasher;
  batches: BatchWrites;
  replicator: Replicator;
  /** Runs functions of design documents. */
  scripts: ScriptHost;
  uuids: Uuids;
  metrics: Metrics;
  /** For heartbeats and timeouts of feeds. */
  wheel: TimerWheel;
  logger: Logger;
  policy: ProxyAndCorsPolicy;
  compression: Compression;
  wholeAnswers: WholeAnswers;
  budgets: MemoryBudgets;
  /** Brings the figures up to date with what other processes of the server have answered. */
  gather: () => Promise<void>;
  /** Closes the data folder's stores and opens them again. */
  restart: () => Promise<void>;
  /** Makes a server that is started alone a node of a cluster; undefined where it cannot become one. */
  becomeNode?: {
    /**
     * Throws where the server has data, or could not be a node with these options of `[cluster]`. Otherwise requests wait from
     * then on.
     */
    check(settings: Record<string, string>): Promise<void>;
    /** Lets requests in again: it stays as it is. */
    cancel(): void;
    /** Starts the server anew, soon. */
    restart(): void;
  };
  /** Reads the configuration again, with the certificates it names. Gives nothing; refuses where something can't be used. */
  reload: () => Promise<void>;
  /** This server's id. */
  uuid: string;
  version: string;
  /** Where bodies that are too large for the memory wait while they are worked on. */
  spoolFolder: string;
  /** What the `Server` header says. */
  serverName: string;
}
