import { fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import { parseRev, type Rev } from '../revisions/rev.js';
import { hasAttachments } from '../shard/content.js';
import { docText } from '../shard/doc-text.js';
import type { Row } from '../views/tree/row.js';
import type { Cluster } from './cluster.js';
import type { Database } from './database.js';
import { docPieces } from './doc-pieces.js';
import { openDoc, type OpenedDoc } from './open-doc.js';
import type { Show } from './read-gates.js';

/** How documents are shown beside the rows of a view. */
export interface ViewDocOptions {
  conflicts: boolean;
  encodingInfo: boolean;
  /** What the reader may see; undefined where nothing is hidden. */
  show: Show | undefined;
}

/** A document that a row stands for, or undefined where it is gone. */
function docOfRow(database: Database, row: Row, { conflicts, show }: ViewDocOptions): OpenedDoc | undefined {
  const link = linkOf(row.value);
  const id = link.id ?? row.id;
  try {
    return openDoc(database, id, link.rev === undefined ? { conflicts, show } : { rev: link.rev, show });
  } catch {
    // Missing or deleted: the row is shown without it.
    return undefined;
  }
}

export function docTextOfRow(database: Database, row: Row, options: ViewDocOptions): Bytes {
  const doc = docOfRow(database, row, options);
  return doc === undefined ? 'null' : docText(doc.id, doc.rev, doc.content, doc.extra, options.encodingInfo);
}

/** The same with the bytes of attachments. */
export async function* docPiecesOfRow(
  cluster: Cluster,
  database: Database,
  row: Row,
  options: ViewDocOptions,
): AsyncGenerator<Bytes> {
  const doc = docOfRow(database, row, options);
  if (doc === undefined || !hasAttachments(doc.content)) yield docTextOfRow(database, row, options);
  else yield* docPieces(cluster, database, doc, { after: -1, encodingInfo: options.encodingInfo });
}

/** A value with an `_id` names another document than the one that emitted it, perhaps one revision of it. */
function linkOf(value: Bytes): { id?: Bytes; rev?: Rev } {
  if (!value.startsWith('{') || !value.includes('"_id"')) return {};
  const { _id, _rev } = JSON.parse(fromBytes(value)) as { _id?: unknown; _rev?: unknown };
  if (typeof _id !== 'string') return {};
  const id = toBytes(_id.toWellFormed());
  return typeof _rev === 'string' ? { id, rev: parseRev(_rev) } : { id };
}
