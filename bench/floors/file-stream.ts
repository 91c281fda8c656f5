import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { serve, settings } from './child.js';

/** Floor 6: a file streamed to the client, in pieces of the size that the server reads. */
const { folder, headers } = settings<{ folder: string; headers: Record<string, string> }>();
const pieceBytes = 256 * 1024;

serve(
  http.createServer(({ url = '' }, response) => {
    response.writeHead(200, headers);
    const [, , id = ''] = url.split('/');
    fs.createReadStream(path.join(folder, id), { highWaterMark: pieceBytes }).pipe(response);
  }),
);
