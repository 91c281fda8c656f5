import { membersOf, withMembers } from '../lib/json-text.js';
import { DocumentSplitter } from '../lib/split-documents.js';
import { linesOf } from './bounded.js';
import { saveDocuments, type SaveResult } from './documents.js';
import { send } from './http.js';

const batchDocs = 500;
const batchLength = 2_000_000;

export interface ImportState {
  bytes: number;
  saved: number;
  failures: SaveResult[];
  failed: number;
}

const failuresShown = 20;

/** Reads documents from a file and saves them, batch by batch. */
export async function importFile(
  db: string,
  file: File,
  keepRevisions: boolean,
  onProgress: (state: ImportState) => void,
): Promise<ImportState> {
  const state: ImportState = { bytes: 0, saved: 0, failures: [], failed: 0 };
  const splitter = new DocumentSplitter();
  let batch: string[] = [];
  let length = 0;
  const save = async (): Promise<void> => {
    if (batch.length > 0) count(state, batch.length, await saveDocuments(db, batch, !keepRevisions));
    batch = [];
    length = 0;
    onProgress({ ...state });
  };
  const decoder = new TextDecoder();
  for await (const chunk of file.stream()) {
    state.bytes += chunk.length;
    for (const doc of splitter.push(decoder.decode(chunk, { stream: true }))) {
      batch.push(keepRevisions ? doc : withMembers(doc, { _rev: undefined }));
      length += doc.length;
      if (batch.length >= batchDocs || length >= batchLength) await save();
    }
  }
  await save();
  if (splitter.isIncomplete)
    throw new Error('The file ends in the middle of a document; what came before is saved.');
  if (state.saved + state.failed === 0)
    throw new Error('The file holds no documents: neither a JSON list nor one document a line.');
  return state;
}

function count(state: ImportState, sent: number, results: SaveResult[]): void {
  // With revisions of their own only the documents that were refused are told.
  const failures = results.filter(({ error }) => error !== undefined);
  state.failed += failures.length;
  state.saved += sent - failures.length;
  state.failures.push(...failures.slice(0, failuresShown - state.failures.length));
}

/** Reads all documents as lines of JSON, page by page, and gives them to a writer. */
export async function exportDocuments(
  db: string,
  withAttachments: boolean,
  write: (text: string) => Promise<void>,
  onProgress: (done: number) => void,
  signal: AbortSignal,
): Promise<void> {
  let start: string | undefined;
  let done = 0;
  for (;;) {
    const query = {
      include_docs: true,
      attachments: withAttachments || undefined,
      limit: batchDocs + 1,
      startkey: start === undefined ? undefined : JSON.stringify(start),
    };
    start = undefined;
    let lines = '';
    let rows = 0;
    for await (const line of linesOf(await send('GET', [db, '_all_docs'], { query, signal }))) {
      if (!line.startsWith('{"id"')) continue;
      const members = membersOf(line.replace(/,\s*$/, ''));
      if (++rows > batchDocs) start = JSON.parse(members.get('id')!) as string;
      else lines += `${members.get('doc')!}\n`;
    }
    await write(lines);
    done += Math.min(rows, batchDocs);
    onProgress(done);
    if (start === undefined) return;
  }
}
