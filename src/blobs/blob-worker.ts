import { createHash, type Hash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { PieceReply, PieceRequest } from './blob-threads.js';

/** The far side of `blob-threads.ts`. */
const hashes = new Map<number, { sha256: Hash; md5: Hash }>();

function answer(request: PieceRequest): PieceReply {
  const { id, buffer, end } = request;
  const reply: PieceReply = { id, buffer, hashed: undefined, failure: undefined };
  try {
    const hash = hashes.get(id) ?? { sha256: createHash('sha256'), md5: createHash('md5') };
    if (!end) hashes.set(id, hash);
    else hashes.delete(id);
    if (buffer === undefined) return reply;
    const bytes = Buffer.from(buffer, 0, request.length);
    appendAll(request.descriptor, bytes);
    hash.sha256.update(bytes);
    hash.md5.update(bytes);
    if (end) reply.hashed = { digest: hash.sha256.digest('hex'), md5: hash.md5.digest() };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    reply.failure = { message, code };
  }
  return reply;
}

function appendAll(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, bytes.length - at);
}

parentPort?.on('message', (request: PieceRequest) => {
  const reply = answer(request);
  parentPort?.postMessage(reply, reply.buffer === undefined ? [] : [reply.buffer]);
});
