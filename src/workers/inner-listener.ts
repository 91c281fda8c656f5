import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Config } from '../config/config.js';
import type { HttpServer } from '../http/connection/http-server.js';
import { restoreRequest } from './forwarded-head.js';

/** Room for the headers that are added to those of a client. */
const addedHeaderBytes = 4 * 1024;

/** Takes requests that workers pass on, and has them answered as if they had come from their clients. Gives how to end it. */
export async function listenForWorkers(
  socketPath: string,
  server: HttpServer,
  config: Config,
): Promise<() => void> {
  const inner = http.createServer({
    maxHeaderSize: config.number('tuffet/header_bytes_max') + addedHeaderBytes,
    // Connections between the processes stay open, however long nothing comes.
    keepAliveTimeout: 0,
    headersTimeout: 0,
    requestTimeout: 0,
    requireHostHeader: false,
  });
  inner.maxHeadersCount = 0;
  inner.on('request', (request: IncomingMessage, response: ServerResponse) => {
    restoreRequest(request);
    server.take(request, response);
  });
  inner.on('upgrade', (request: IncomingMessage, socket, head) => {
    restoreRequest(request);
    socket.on('error', () => socket.destroy());
    server.upgrade({ request, socket, head });
  });
  inner.on('clientError', (_, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    inner.once('error', reject);
    inner.listen(socketPath, resolve);
  });
  // A worker that is killed is no failure of this process.
  inner.on('error', () => undefined);
  return () => {
    inner.close();
    inner.closeAllConnections();
  };
}
