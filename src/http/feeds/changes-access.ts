import { checkMember } from '../../auth/rights.js';
import type { UserContext } from '../../base/user-context.js';
import type { Database } from '../../cluster/database.js';
import type { Exchange } from '../exchange.js';

/** Refuses who may not follow a database: the rule of the route, for those who come by a message or have stayed long. */
export function checkChangesAccess(_: Exchange, user: UserContext, { security }: Database): void {
  checkMember(user, security);
}
