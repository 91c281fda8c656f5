import { once } from 'node:events';
import http, { type ServerResponse } from 'node:http';
import { makeDocuments } from '../documents.js';
import { serve, settings } from './child.js';
import { documentPrefix, openBare } from './lmdb.js';

/**
 * Floor 4: all values of a store, read in order and written to a socket as fast as it takes them. Every value gets the
 * same wrapper, so long that the answer has as many bytes as the server's.
 */
const { folder, docs, answerBytes } = settings<{ folder: string; docs: number; answerBytes: number }>();
const pieceBytes = 64 * 1024;
const db = openBare(folder);

async function fill(): Promise<number> {
  let bytes = 0;
  await db.batch(() => {
    for (const { id, body } of makeDocuments(docs)) {
      void db.put(documentPrefix + id, body);
      bytes += body.length;
    }
  });
  return bytes;
}

const wrapper = ' '.repeat(Math.max(0, Math.round((answerBytes - (await fill())) / docs)));

async function scan(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  let text = '';
  for (const { value } of db.getRange({ start: documentPrefix })) {
    text += wrapper + value;
    if (text.length < pieceBytes) continue;
    if (!response.write(text, 'latin1')) await once(response, 'drain');
    text = '';
  }
  response.end(text, 'latin1');
}

serve(http.createServer((_request, response) => void scan(response)));
