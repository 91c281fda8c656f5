import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

/** The digests of the blobs in a data folder. */
export function keptBlobs(dataDir: string): string[] {
  const root = path.join(dataDir, 'attachments');
  return fs
    .readdirSync(root)
    .filter((folder) => folder !== 'tmp')
    .flatMap((folder) => fs.readdirSync(path.join(root, folder)).map((name) => folder + name))
    .sort();
}

/** The files of uploads that are not over. */
export function unfinished(dataDir: string): string[] {
  return fs.readdirSync(path.join(dataDir, 'attachments', 'tmp'));
}

const withinMs = 5_000;

/** Waits until something is so that comes about beside the requests. */
export async function eventually<T>(look: () => T | Promise<T>, wanted: T, what: string): Promise<void> {
  const deadline = Date.now() + withinMs;
  let found = await look();
  while (!equal(found, wanted) && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    found = await look();
  }
  assert.deepEqual(found, wanted, what);
}

const equal = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
