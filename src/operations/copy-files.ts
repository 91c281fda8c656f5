import fs from 'node:fs';
import path from 'node:path';
import { newDigest, type Digest, type DigestName } from './digest.js';
import type { Progress } from './progress.js';

type FileHandle = fs.promises.FileHandle;

const chunkBytes = 1024 * 1024;
/** After so many bytes the disk begins to write them, while more are copied. */
const flushBytes = 32 * 1024 * 1024;
const noProgress = (): void => {};

/** Copies a file, makes the copy last, and gives the digest of what was copied. Fails where there is a file already. */
export async function copyDigested(
  source: string,
  target: string,
  name: DigestName,
  progress: Progress,
): Promise<string> {
  const digest = newDigest(name);
  await withFiles(source, target, (from, to) =>
    transfer({ from, to, digest, advance: (bytes) => progress.advance(bytes) }),
  );
  return digest.hex();
}

export async function digestFile(
  file: string,
  name: DigestName,
  advance: (bytes: number) => void = noProgress,
): Promise<string> {
  const digest = newDigest(name);
  const from = await fs.promises.open(file, 'r');
  await transfer({ from, digest, advance }).finally(() => from.close());
  return digest.hex();
}

/** Opens a file and a new one beside it, and makes the new one last. */
export async function withFiles(
  source: string,
  target: string,
  use: (from: FileHandle, to: FileHandle) => Promise<void>,
): Promise<void> {
  const from = await fs.promises.open(source, 'r');
  try {
    const to = await fs.promises.open(target, 'wx', 0o600);
    try {
      await use(from, to);
      await to.sync();
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

interface Transfer {
  from: FileHandle;
  /** Absent where the file is only read. */
  to?: FileHandle;
  digest: Digest;
  advance(bytes: number): void;
  /** Where to begin, and to end if the file has not ended before. */
  start?: number;
  end?: number;
}

/** The next part is read, and the one before written, while a part goes into the digest. */
export async function transfer({
  from,
  to,
  digest,
  advance,
  start = 0,
  end = Infinity,
}: Transfer): Promise<void> {
  const size = Math.min(chunkBytes, Math.max(1, Math.min((await from.stat()).size, end) - start));
  const buffers = [Buffer.allocUnsafe(size), Buffer.allocUnsafe(size)];
  const read = async (turn: number, at: number): Promise<number> =>
    at >= end ? 0 : (await from.read(buffers[turn]!, 0, Math.min(size, end - at), at)).bytesRead;
  const flush = to && new BackgroundFlush(to);
  let reading = read(0, start);
  let writing: Promise<void> | undefined;
  try {
    for (let at = start, turn = 0; ; turn = 1 - turn) {
      const length = await reading;
      await writing;
      if (length === 0) return await flush?.settled;
      flush?.add(length);
      const chunk = buffers[turn]!.subarray(0, length);
      reading = read(1 - turn, at + length);
      writing = to === undefined ? undefined : writeAll(to, chunk, at);
      digest.update(chunk);
      advance(length);
      at += length;
    }
  } finally {
    // Neither may be under way when the files are closed, nor fail unheard.
    await Promise.allSettled([reading, writing, flush?.settled]);
  }
}

/** Has the bytes of a file written to the disk while more of them come, so that the disk is not idle until the end. */
class BackgroundFlush {
  settled: Promise<void> = Promise.resolve();
  #unflushed = 0;
  #isBusy = false;

  constructor(private readonly to: FileHandle) {}

  add(bytes: number): void {
    this.#unflushed += bytes;
    if (this.#unflushed < flushBytes || this.#isBusy) return;
    this.#unflushed = 0;
    this.#isBusy = true;
    this.settled = this.to.datasync();
    this.settled.then(
      () => (this.#isBusy = false),
      // The transfer fails with it, at its end.
      () => undefined,
    );
  }
}

async function writeAll(to: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;)
    done += (await to.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
}

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

/** Calls for all of them, several at once. After a failure no more are begun. */
export async function forEachAtOnce<T>(
  all: readonly T[],
  atOnce: number,
  use: (each: T) => Promise<void>,
): Promise<void> {
  const left = all.values();
  let failed = false;
  const work = async (): Promise<void> => {
    for (const each of left) {
      if (failed) return;
      await use(each).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, work));
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

/** The size of a file; -1 where there is none. */
export const sizeOf = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.size ?? -1;

/** The digests of the attachments in a folder of blobs, without those that are being written. */
export function* blobsBelow(folder: string): Iterable<{ digest: string; name: string }> {
  if (!fs.existsSync(folder)) return;
  for (const first of fs.readdirSync(folder)) {
    if (!/^[0-9a-f]{2}$/.test(first)) continue;
    for (const rest of fs.readdirSync(path.join(folder, first)))
      if (/^[0-9a-f]{62}$/.test(rest)) yield { digest: first + rest, name: path.join(first, rest) };
  }
}
