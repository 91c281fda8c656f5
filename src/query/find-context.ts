import type { Bytes } from '../base/bytes.js';
import type { UserContext } from '../base/user-context.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';

/** Who asks, and what. */
export interface FindContext {
  registry: DatabaseRegistry;
  database: Database;
  user: UserContext;
  /** The partition that the path names. */
  partition: Bytes | undefined;
}
