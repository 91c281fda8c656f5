import { createHash } from 'node:crypto';
import type { BlobInfo } from './blob-store.js';

/** What is known of a blob whose bytes are at hand. */
export function hashOf(bytes: Buffer): BlobInfo {
  return {
    digest: createHash('sha256').update(bytes).digest('hex'),
    md5: createHash('md5').update(bytes).digest(),
    length: bytes.length,
  };
}
