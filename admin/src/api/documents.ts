import { address, call, errorOf, getText, type ApiError } from './http.js';

export interface SaveResult {
  id: string;
  rev?: string;
  error?: string;
  reason?: string;
}

export interface Attachment {
  content_type: string;
  length: number;
  digest: string;
  revpos: number;
}

/** The text of a document, as the server keeps it: numbers stay as they were written. */
export const readDocument = (db: string, id: string, rev?: string, signal?: AbortSignal): Promise<string> =>
  getText([db, id], { rev }, signal);

export async function saveDocument(db: string, id: string | undefined, text: string): Promise<SaveResult> {
  if (id === undefined) return await call('POST', [db], { text });
  return await call('PUT', [db, id], { text });
}

export const deleteDocument = (db: string, id: string, rev: string): Promise<SaveResult> =>
  call('DELETE', [db, id], { query: { rev } });

/** Saves several documents, each given as text. */
export const saveDocuments = (db: string, docs: readonly string[], newEdits = true): Promise<SaveResult[]> =>
  call('POST', [db, '_bulk_docs'], { text: `{"new_edits":${newEdits},"docs":[${docs.join(',')}]}` });

export const deleteDocuments = (
  db: string,
  docs: readonly { id: string; rev: string }[],
): Promise<SaveResult[]> =>
  call('POST', [db, '_bulk_docs'], {
    json: { docs: docs.map(({ id, rev }) => ({ _id: id, _rev: rev, _deleted: true })) },
  });

export const attachmentAddress = (db: string, id: string, name: string, rev: string): string =>
  address([db, id, name], { rev });

export const deleteAttachment = (db: string, id: string, name: string, rev: string): Promise<SaveResult> =>
  call('DELETE', [db, id, name], { query: { rev } });

/** Sends a file. `fetch` tells nothing of the progress of a body, so this is the older interface. */
export function putAttachment(
  db: string,
  id: string,
  file: File,
  rev: string,
  onProgress: (share: number) => void,
): Promise<SaveResult> {
  return new Promise((resolve, reject: (error: ApiError) => void) => {
    const request = new XMLHttpRequest();
    const what = `PUT /${db}/${id}/${file.name}`;
    request.open('PUT', address([db, id, file.name], { rev }));
    request.setRequestHeader('content-type', file.type || 'application/octet-stream');
    request.setRequestHeader('accept', 'application/json');
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onload = () =>
      request.status < 300
        ? resolve(JSON.parse(request.responseText) as SaveResult)
        : reject(errorOf(request.status, request.responseText, what));
    request.onerror = () =>
      reject(errorOf(0, '{"error":"unreachable","reason":"The connection broke."}', what));
    request.send(file);
  });
}
