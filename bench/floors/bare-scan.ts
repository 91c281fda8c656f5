import { once } from 'node:events';
import http, { type ServerResponse } from 'node:http';
import { makeDocuments } from '../documents.js';
import { serve, settings } from './child.js';
import { changePrefix, documentPrefix, openBare } from './lmdb.js';

/**
 * Floor 4: all values of a store, read in order and written to a socket as fast as it takes them. Every value gets the
 * same wrapper, so long that the answer has as many bytes as the server's.
 */
const { folder, docs, answerBytes, records } = settings<{
  folder: string;
  docs: number;
  answerBytes: number;
  /** The documents themselves, or what the table of changes holds of them. */
  records: 'documents' | 'changes';
}>();
const pieceBytes = 64 * 1024;
const db = openBare(folder);
const prefix = records === 'changes' ? changePrefix : documentPrefix;

async function fill(): Promise<number> {
  let bytes = 0;
  await db.batch(() => {
    for (const [at, { id, body }] of makeDocuments(docs).entries()) {
      const isChange = records === 'changes';
      const value = isChange ? `\0\x01\x01\0${'0123456789abcdef'.repeat(2)}${id}` : body;
      void db.put(isChange ? changePrefix + String(at).padStart(8, '0') : documentPrefix + id, value);
      bytes += value.length;
    }
  });
  return bytes;
}

const wrapper = ' '.repeat(Math.max(0, Math.round((answerBytes - (await fill())) / docs)));

async function scan(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  let text = '';
  for (const { value } of db.getRange({ start: prefix })) {
    text += wrapper + value;
    if (text.length < pieceBytes) continue;
    if (!response.write(text, 'latin1')) await once(response, 'drain');
    text = '';
  }
  response.end(text, 'latin1');
}

serve(http.createServer((_request, response) => void scan(response)));
