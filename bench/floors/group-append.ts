import fs from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import type { SampleAnswer } from '../load/sample-answer.js';
import { serve, settings } from './child.js';

/**
 * Floor 3: bodies appended to a log whose blocks are there already, each answered when it is on disk. What comes in while
 * the disk is busy goes together into the next write. A log that is full is written again from its beginning.
 */
const { file, answer } = settings<{ file: string; answer: SampleAnswer }>();
const write = promisify(fs.write) as (
  fd: number,
  bytes: Buffer,
  offset: number,
  length: number,
  position: number,
) => Promise<unknown>;
const fdatasync = promisify(fs.fdatasync);
const logBytes = 64 * 1024 * 1024;
fs.writeFileSync(file, Buffer.alloc(logBytes));
const fd = fs.openSync(file, 'r+');
fs.fsyncSync(fd);
let position = 0;
let waiting: { body: Buffer; response: ServerResponse }[] = [];
let syncing = false;

async function sync(): Promise<void> {
  syncing = true;
  while (waiting.length > 0) {
    const group = waiting;
    waiting = [];
    const bytes = Buffer.concat(group.map(({ body }) => body));
    if (position + bytes.length > logBytes) position = 0;
    await write(fd, bytes, 0, bytes.length, position);
    position += bytes.length;
    await fdatasync(fd);
    for (const { response } of group) {
      response.writeHead(answer.status, answer.headers);
      response.end(answer.body, 'latin1');
    }
  }
  syncing = false;
}

function take(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    waiting.push({ body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), response });
    // The requests of this turn share the first write, as they would share a commit.
    if (!syncing) setImmediate(() => void (syncing || sync()));
  });
}

serve(http.createServer(take));
