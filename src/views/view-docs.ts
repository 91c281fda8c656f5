import { asBytes, fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import { notFound, RequestError } from '../base/errors.js';
import { parseRev, type Rev } from '../revisions/rev.js';
import { hasAttachments } from '../shard/content.js';
import { docText } from '../shard/doc-text.js';
import type { Row } from '../indexes/tree/row.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { docPieces } from '../documents/doc-pieces.js';
import { openDoc, type OpenedDoc } from '../documents/open-doc.js';
import type { Show } from '../node/read-gate.js';

/** How documents are shown beside the rows of a view. */
export interface ViewDocOptions {
  conflicts: boolean;
  encodingInfo: boolean;
  /** What the reader may see; undefined where nothing is hidden. */
  show: Show | undefined;
}

/** A document that a row stands for, or undefined where it is gone. */
function docOfRow(database: Database, row: Row, { conflicts, show }: ViewDocOptions): OpenedDoc | undefined {
  try {
    const { id, rev } = linkOf(row);
    return openDoc(database, id, rev === undefined ? { conflicts, show } : { rev, show });
  } catch (error) {
    // Missing, deleted, or no name of a document or revision at all: the row is shown without it.
    if (error instanceof RequestError) return undefined;
    throw error;
  }
}

export function docTextOfRow(database: Database, row: Row, options: ViewDocOptions): Bytes {
  const doc = docOfRow(database, row, options);
  return doc === undefined
    ? asBytes('null')
    : docText(doc.id, doc.rev, doc.content, doc.extra, options.encodingInfo);
}

/** The same with the bytes of attachments. */
export async function* docPiecesOfRow(
  registry: DatabaseRegistry,
  database: Database,
  row: Row,
  options: ViewDocOptions,
): AsyncGenerator<Bytes> {
  const doc = docOfRow(database, row, options);
  if (doc === undefined || !hasAttachments(doc.content)) yield docTextOfRow(database, row, options);
  else yield* docPieces(registry, database, doc, { after: -1, encodingInfo: options.encodingInfo });
}

/** A value with an `_id` names another document than the one that emitted it; with a `_rev`, one revision. */
function linkOf({ id, value }: Row): { id: Bytes; rev?: Rev } {
  if (!value.startsWith('{') || !/"_(id|rev)"/.test(value)) return { id };
  const { _id, _rev } = JSON.parse(fromBytes(value)) as { _id?: unknown; _rev?: unknown };
  if (_id !== undefined && typeof _id !== 'string') throw notFound('missing');
  const linked = _id === undefined ? id : toBytes(_id.toWellFormed());
  return typeof _rev === 'string' ? { id: linked, rev: parseRev(_rev) } : { id: linked };
}
