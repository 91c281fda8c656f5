import { createHash, type Hash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { Rpc, Transferred } from '../base/rpc.js';
import type { PieceAnswer, PieceRequest } from './blob-threads.js';

/** The module of the threads of `blob-threads.ts`. */
const hashes = new Map<number, { sha256: Hash; md5: Hash }>();

function handle({ file, buffer, length, descriptor, end }: PieceRequest): Transferred<PieceAnswer> {
  const hash = hashes.get(file) ?? { sha256: createHash('sha256'), md5: createHash('md5') };
  if (!end) hashes.set(file, hash);
  else hashes.delete(file);
  if (buffer === undefined) return new Transferred({ buffer, hashed: undefined }, []);
  const bytes = Buffer.from(buffer, 0, length);
  appendAll(descriptor, bytes);
  hash.sha256.update(bytes);
  hash.md5.update(bytes);
  const hashed = end ? { digest: hash.sha256.digest('hex'), md5: hash.md5.digest() } : undefined;
  return new Transferred({ buffer, hashed }, [buffer]);
}

function appendAll(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, bytes.length - at);
}

const port = parentPort!;
const rpc = new Rpc<never, never, never, PieceRequest>(port, handle);
port.on('message', (message) => rpc.receive(message));
