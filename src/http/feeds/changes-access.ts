import { checkListing } from '../../auth/system-databases.js';
import type { UserContext } from '../../base/user-context.js';
import type { Database } from '../../node/database.js';
import type { Exchange } from '../exchange.js';

/** Throws if the user may not read the changes: the rule of the route, for feeds opened by a message or open for long. */
export function checkChangesAccess({ services }: Exchange, user: UserContext, database: Database): void {
  checkListing(services.config, user, database);
}
