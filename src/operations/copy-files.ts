import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Progress } from './progress.js';

/** Copies a file, makes the copy last, and gives the SHA-256 of what was copied. Fails where there is a file already. */
export async function copyHashed(source: string, target: string, progress: Progress): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(
    fs.createReadStream(source, { highWaterMark: chunkBytes }),
    async function* (chunks) {
      for await (const chunk of chunks as AsyncIterable<Buffer>) {
        hash.update(chunk);
        progress.advance(chunk.length);
        yield chunk;
      }
    },
    fs.createWriteStream(target, { flags: 'wx', mode: 0o600, flush: true }),
  );
  return hash.digest('hex');
}

export async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of fs.createReadStream(file, { highWaterMark: chunkBytes }))
    hash.update(chunk as Buffer);
  return hash.digest('hex');
}

const chunkBytes = 1024 * 1024;

/** Gives a file a second name; false where the file system can't, or the file is not there. */
export async function link(source: string, target: string): Promise<boolean> {
  try {
    await fs.promises.link(source, target);
    return true;
  } catch (error) {
    if (linkRefusals.has((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

const linkRefusals = new Set(['ENOENT', 'EXDEV', 'EPERM', 'ENOTSUP', 'EMLINK', 'ENOSYS']);

/** The files below a folder, by their paths from it; none where there is no such folder. */
export function filesBelow(folder: string): string[] {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}

/** The digests of the attachments in a folder of blobs, without those that are being written. */
export function* blobsBelow(folder: string): Iterable<{ digest: string; name: string }> {
  if (!fs.existsSync(folder)) return;
  for (const first of fs.readdirSync(folder)) {
    if (!/^[0-9a-f]{2}$/.test(first)) continue;
    for (const rest of fs.readdirSync(path.join(folder, first)))
      if (/^[0-9a-f]{62}$/.test(rest)) yield { digest: first + rest, name: path.join(first, rest) };
  }
}
