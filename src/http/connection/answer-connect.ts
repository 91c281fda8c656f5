import type { Runtime } from '../../base/runtime.js';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { answerRaw } from './client-error.js';

/** A request for a tunnel names a host, and is refused. With a path, `CONNECT` is a method like others, which routes refuse. */
export function answerConnect(
  request: IncomingMessage,
  socket: Duplex,
  take: (request: IncomingMessage, response: ServerResponse) => void,
  runtime: Runtime,
): void {
  if (!request.url?.startsWith('/'))
    return answerRaw(socket, runtime, 'method_not_allowed', 'This server is no proxy.');
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.once('finish', () => socket.end());
  take(request, response);
}
