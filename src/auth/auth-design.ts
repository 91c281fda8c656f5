import { asBytes, toBytes } from '../base/bytes.js';
import { serverAdminRole } from '../base/user-context.js';
import type { Config } from '../config/config.js';
import { saveDoc } from '../documents/save-docs.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import { usersDatabase } from './users-database.js';
import { knownId } from '../shard/doc-id.js';
import { plainInput } from '../shard/document-input.js';

const body = {
  language: 'javascript',
  description:
    'The rules for user documents are part of the server; this document is here for clients that look for it.',
};

/** Gives a new database of users the design document that clients know from CouchDB, and wait for. */
export async function addAuthDesign(registry: DatabaseRegistry, config: Config, name: string): Promise<void> {
  if (name !== usersDatabase(config)) return;
  const input = plainInput(knownId(asBytes('_design/_auth')), undefined, toBytes(JSON.stringify(body)));
  const user = { name: null, roles: [serverAdminRole] };
  await saveDoc(registry, registry.database(name), input, { user, newEdits: true });
}
