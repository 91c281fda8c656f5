import { asBytes, toBytes } from '../base/bytes.js';
import { serverAdminRole } from '../base/user-context.js';

/** The security object that the server gives to its own databases. */
export const adminsOnly = { members: { roles: [serverAdminRole] }, admins: { roles: [serverAdminRole] } };

/** The design document that clients know from CouchDB's database of users, and wait for. */
export const authDesign = {
  id: asBytes('_design/_auth'),
  body: toBytes(
    JSON.stringify({
      language: 'javascript',
      description:
        'The rules for user documents are part of the server; this document is here for clients that look for it.',
    }),
  ),
};
