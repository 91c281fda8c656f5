import { availableParallelism } from 'node:os';
import { RpcThread } from '../base/rpc-thread.js';
import { forEachAtOnce } from './copy-files.js';

/** A file to be copied. There must be none at `target`. */
export interface CopyFile {
  source: string;
  target: string;
  /** About how many. */
  bytes: number;
}

/** What one message asks a thread for. */
export type CopyRequest = readonly CopyFile[];
/** The SHA-256 of what was copied, for each file; undefined where there was none. */
export type CopyAnswer = readonly (string | undefined)[];
/** Bytes that were copied since the note before. */
export type CopyNote = number;

const threadsMax = 4;
/** What a thread is given at once: enough that the messages cost nothing, and little enough that all end together. */
const batchFiles = 64;
const batchBytes = 16 * 1024 * 1024;

/**
 * Copies many files, and hashes them on the way. Each file is read, hashed and written by one thread, without waiting for
 * other threads between these steps: for small files, waiting would take longer than the work. The copies may not be on disk
 * yet when it is done.
 */
export async function copyInThreads<F extends CopyFile>(
  files: readonly F[],
  onCopied: (file: F, sha256: string | undefined) => void,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const batches = batchesOf(files);
  const count = Math.min(batches.length, threadsMax, availableParallelism());
  const idle = Array.from({ length: count }, () => new CopyThread());
  const all = [...idle];
  try {
    await forEachAtOnce(batches, count, async (batch) => {
      const thread = idle.pop()!;
      const digests = await thread.call(batch, { onNote: onBytes });
      for (const [at, file] of batch.entries()) onCopied(file, digests[at]);
      idle.push(thread);
    });
  } finally {
    await Promise.all(all.map((thread) => thread.stop()));
  }
}

class CopyThread extends RpcThread<CopyRequest, CopyAnswer, CopyNote> {
  constructor() {
    super(new URL('./copy-worker.js', import.meta.url), { name: 'tuffet-copy' });
  }
}

function batchesOf<F extends CopyFile>(files: readonly F[]): F[][] {
  const batches: F[][] = [];
  let bytes = Infinity;
  for (const file of files) {
    if (bytes >= batchBytes || batches.at(-1)!.length >= batchFiles) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(file);
    bytes += file.bytes;
  }
  return batches;
}
