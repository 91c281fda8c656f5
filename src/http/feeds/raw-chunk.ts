import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes as a chunk: a shared feed sends the same bytes to all its listeners. */
const chunks = new WeakMap<Buffer, Buffer>();

function chunkOf(bytes: Buffer): Buffer {
  let chunk = chunks.get(bytes);
  if (chunk === undefined) {
    chunk = Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`, 'latin1'), bytes, end]);
    chunks.set(bytes, chunk);
  }
  return chunk;
}

const end = Buffer.from('\r\n', 'latin1');

/**
 * Where an answer is sent in chunks and nothing of it waits, the socket to which a chunk may be written directly. Node
 * writes a chunk in four parts, gathered at the end of the turn; for thousands of listeners that is most of the work.
 */
export function directSocket(response: ServerResponse): Socket | undefined {
  const { socket, chunkedEncoding, writableLength } = response;
  return socket !== null && chunkedEncoding && writableLength === 0 ? socket : undefined;
}

export function writeChunk(socket: Socket, bytes: Buffer): boolean {
  return socket.write(chunkOf(bytes));
}
