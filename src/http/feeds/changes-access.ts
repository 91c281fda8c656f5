import { checkListing } from '../../auth/system-databases.js';
import type { UserContext } from '../../base/user-context.js';
import type { Database } from '../../node/database.js';
import type { Exchange } from '../exchange.js';

/** Refuses who may not follow a database: the rule of the route, for those who come by a message or have stayed long. */
export function checkChangesAccess({ services }: Exchange, user: UserContext, database: Database): void {
  checkListing(services.config, user, database);
}
