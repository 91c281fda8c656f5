import { noBytes } from '../../base/bytes.js';
import type { Runtime } from '../../base/runtime.js';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorName } from '../../base/errors.js';
import { statuses } from '../answer/statuses.js';

/** What `node:http` tells of a request that it could not read. */
export interface ClientError extends NodeJS.ErrnoException {
  /** The bytes in which reading ended. */
  rawPacket?: Buffer;
}

/** How long a connection may stay open after its last answer, so that the client gets to read the answer. */
const lingerMs = 1000;

const answered = new WeakSet<Duplex>();

/** Answers malformed requests in the interface's form and closes the connection, since the start of the next request is unknown. */
export function answerClientError(error: ClientError, socket: Duplex, runtime: Runtime): void {
  // What a client goes on sending after its mistake is another mistake, and the answer is on its way already.
  if (answered.has(socket)) return;
  if (!socket.writable || error.code === 'ECONNRESET' || error.code === 'EPIPE') return void socket.destroy();
  answerRaw(socket, runtime, ...refusalFor(error));
}

export function answerRaw(socket: Duplex, runtime: Runtime, name: ErrorName, reason: string): void {
  answered.add(socket);
  const body = `${JSON.stringify({ error: name, reason })}\n`;
  const status = statuses[name];
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\nCache-Control: must-revalidate\r\nConnection: close\r\n\r\n${body}`,
  );
  runtime.setIdleTimer(() => socket.destroy(), lingerMs);
}

function refusalFor({ code, rawPacket }: ClientError): [name: ErrorName, reason: string] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return ['request_timeout', 'The headers of the request did not come in time.'];
  }
  if (code !== 'HPE_HEADER_OVERFLOW') {
    return ['bad_request', 'The request is not HTTP that this server understands.'];
  }
  return isRequestLine(rawPacket)
    ? ['too_long', 'the request uri is too long']
    : ['request_header_fields_too_large', 'The headers of the request are too many or too long.'];
}

/** Whether a head that is too long is so for its first line: the bytes then begin with it, or hold its end. */
function isRequestLine(packet: Buffer | undefined): boolean {
  const text = packet?.toString('latin1') ?? noBytes;
  const line = text.split('\r\n', 1)[0]!;
  if (line.length === text.length) return /^[A-Z-]+ \S*$/.test(line);
  return line.length >= lineBytesMin && / HTTP\/\d\.\d$/.test(line);
}

/** A line that ends within the packet was the cause only if it fills much of it. */
const lineBytesMin = 4096;
