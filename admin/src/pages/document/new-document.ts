import { databaseInfo } from '../../api/databases.js';
import { readDocument } from '../../api/documents.js';
import { get } from '../../api/http.js';
import { formatJson, withMembers } from '../../lib/json-text.js';

/** The text that a new document begins with: an id of the server's making, or a copy of another document. */
export async function newDocumentText(db: string, copy: string | null, signal: AbortSignal): Promise<string> {
  const [{ uuids }, info] = await Promise.all([
    get<{ uuids: string[] }>(['_uuids'], undefined, signal),
    databaseInfo(db, signal),
  ]);
  const id = info.props.partitioned ? `partition:${uuids[0]}` : uuids[0];
  if (copy === null) return JSON.stringify({ _id: id }, undefined, 2);
  const text = await readDocument(db, copy, undefined, signal);
  return formatJson(withMembers(text, { _id: JSON.stringify(id), _rev: undefined, _attachments: undefined }));
}
