import { isDesignId } from '../shard/doc-id.js';
import type { SaveGate } from '../node/save-gate.js';
import { checkDbAdmin } from './rights.js';

/** Design documents are written by database admins, whichever way they come. */
export const designGate: SaveGate = {
  concerns: (_, id) => isDesignId(id),
  check: (database, input, { user }) => {
    checkDbAdmin(user, database.security);
    return input;
  },
};
