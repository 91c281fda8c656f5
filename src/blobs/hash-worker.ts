import { createHash, type Hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import type { HashReply, HashRequest } from './hash-threads.js';

/** The far side of `hash-threads.ts`. */
const hashes = new Map<number, { sha256: Hash; md5: Hash }>();

function answer({ id, shared, length, end }: HashRequest): HashReply {
  let hash = hashes.get(id);
  if (hash === undefined) hashes.set(id, (hash = { sha256: createHash('sha256'), md5: createHash('md5') }));
  if (shared !== undefined) {
    const bytes = Buffer.from(shared, 0, length);
    hash.sha256.update(bytes);
    hash.md5.update(bytes);
  }
  if (!end) return { id };
  hashes.delete(id);
  return { id, digest: hash.sha256.digest('hex'), md5: hash.md5.digest() };
}

parentPort?.on('message', (request: HashRequest) => parentPort?.postMessage(answer(request)));
