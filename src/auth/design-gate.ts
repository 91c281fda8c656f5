import { isDesignId } from '../cluster/document-input.js';
import type { SaveGate } from '../cluster/save-gates.js';
import { checkDbAdmin } from './rights.js';

/** Design documents are written by database admins, whichever way they come. */
export const designGate: SaveGate = {
  concerns: (_, id) => isDesignId(id),
  check: (database, input, { user }) => {
    checkDbAdmin(user, database.security);
    return input;
  },
};
