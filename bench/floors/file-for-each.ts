import fs from 'node:fs';
import { open } from 'node:fs/promises';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import type { SampleAnswer } from '../load/sample-answer.js';
import { serve, settings } from './child.js';

/** Floor 5: every body written to a file of its own as it comes, and answered when that is on disk. */
const { folder, answer } = settings<{ folder: string; answer: SampleAnswer }>();
fs.mkdirSync(folder);
let files = 0;

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const file = await open(path.join(folder, String(++files)), 'wx');
  try {
    for await (const chunk of request) await file.write(chunk as Buffer);
    await file.datasync();
  } finally {
    await file.close();
  }
  response.writeHead(answer.status, answer.headers);
  response.end(answer.body, 'latin1');
}

// The client breaks off what is under way when its time is over.
serve(http.createServer((request, response) => void take(request, response).catch(() => response.destroy())));
