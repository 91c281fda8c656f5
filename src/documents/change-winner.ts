import type { Bytes } from '../base/bytes.js';
import type { UserContext } from '../base/user-context.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import type { Rev } from '../revisions/rev.js';
import { encodeContent, splitContent } from '../shard/content.js';
import type { WinnerView } from '../shard/doc-record.js';
import { saveDoc } from './save-docs.js';
import { knownId } from '../shard/doc-id.js';
import { plainInput } from '../shard/document-input.js';

/**
 * Saves a changed body of a winner that the caller has read in the same turn, and keeps its attachments. Rejects with a
 * conflict if the document changes before it is saved; throws at once if its body can't be read.
 */
export function changeWinner(
  registry: DatabaseRegistry,
  database: Database,
  id: Bytes,
  winner: WinnerView,
  change: (body: Bytes) => Bytes,
  user: UserContext,
): Promise<Rev> {
  const content = database.collection.winnerBody(database.shardOf(id), winner);
  const { attachments, body } = splitContent(content);
  const rev = { pos: winner.pos, hash: winner.hash };
  const input = plainInput(knownId(id), rev, encodeContent(attachments, change(body)));
  return saveDoc(registry, database, input, { user, newEdits: true });
}
