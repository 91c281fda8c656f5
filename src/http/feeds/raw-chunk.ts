import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The bytes that were framed last, and as a chunk: a herd sends the same to all its members, one after the other. */
let framed: { bytes: Buffer; chunk: Buffer } | undefined;

function chunkOf(bytes: Buffer): Buffer {
  if (framed?.bytes !== bytes) {
    const head = Buffer.from(`${bytes.length.toString(16)}\r\n`, 'latin1');
    framed = { bytes, chunk: Buffer.concat([head, bytes, end]) };
  }
  return framed.chunk;
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
