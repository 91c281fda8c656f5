import fs from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import type { SampleAnswer } from '../load/sample-answer.js';
import { serve, settings } from './child.js';

/**
 * Floor 3: bodies appended to a file, each answered when it is on disk. What comes in while the disk is busy goes
 * together into the next write.
 */
const { file, answer } = settings<{ file: string; answer: SampleAnswer }>();
const write = promisify(fs.write) as (fd: number, bytes: Buffer) => Promise<unknown>;
const fdatasync = promisify(fs.fdatasync);
const fd = fs.openSync(file, 'w');
let waiting: { body: Buffer; response: ServerResponse }[] = [];
let syncing = false;

async function sync(): Promise<void> {
  syncing = true;
  while (waiting.length > 0) {
    const group = waiting;
    waiting = [];
    await write(fd, Buffer.concat(group.map(({ body }) => body)));
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
