import { serverAdminRole } from '../base/user-context.js';
import type { Config } from '../config/config.js';
import { saveDoc } from '../documents/save-docs.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import { authDesign } from '../node/new-system-databases.js';
import { usersDatabase } from './users-database.js';
import { knownId } from '../shard/doc-id.js';
import { plainInput } from '../shard/document-input.js';

/** Gives a new database of users the design document that clients know from CouchDB, and wait for. */
export async function addAuthDesign(registry: DatabaseRegistry, config: Config, name: string): Promise<void> {
  if (name !== usersDatabase(config)) return;
  const input = plainInput(knownId(authDesign.id), undefined, authDesign.body);
  const user = { name: null, roles: [serverAdminRole] };
  await saveDoc(registry, registry.database(name), input, { user, newEdits: true });
}
