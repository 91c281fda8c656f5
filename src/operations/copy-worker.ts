import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { Rpc } from '../base/rpc.js';
import type { CopyAnswer, CopyFile, CopyNote, CopyRequest } from './copy-threads.js';

/** The module of the threads of `copy-threads.ts`. */
const buffer = Buffer.allocUnsafeSlow(1024 * 1024);
/** Copied bytes are told in steps of this size. */
const noteBytes = 4 * 1024 * 1024;

/** Larger files are flushed at once, smaller ones when all of them are there. */
const smallBytesMax = 4 * 1024 * 1024;

type Tell = (bytes: CopyNote) => void;

function handle(files: CopyRequest, tell: Tell): CopyAnswer {
  let untold = 0;
  const advance = (bytes: number): void => {
    untold += bytes;
    if (untold < noteBytes) return;
    tell(untold);
    untold = 0;
  };
  const digests = files.map((file) => copy(file, advance));
  if (untold > 0) tell(untold);
  return digests;
}

/** Undefined where there is no such file. */
function copy({ source, target, bytes }: CopyFile, advance: Tell): string | undefined {
  const from = openExisting(source);
  if (from === undefined) return undefined;
  try {
    const to = fs.openSync(target, 'wx', 0o600);
    try {
      const digest = transfer(from, to, advance);
      // By the descriptor that wrote them, which hears of every error.
      if (bytes > smallBytesMax) fs.fsyncSync(to);
      return digest;
    } finally {
      fs.closeSync(to);
    }
  } finally {
    fs.closeSync(from);
  }
}

function openExisting(file: string): number | undefined {
  try {
    return fs.openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function transfer(from: number, to: number, advance: Tell): string {
  const hash = createHash('sha256');
  for (;;) {
    const length = fs.readSync(from, buffer, 0, buffer.length, null);
    if (length === 0) return hash.digest('hex');
    const chunk = buffer.subarray(0, length);
    for (let done = 0; done < length;) done += fs.writeSync(to, chunk, done, length - done);
    hash.update(chunk);
    advance(length);
  }
}

const port = parentPort!;
const rpc = new Rpc<never, never, never, CopyRequest>(port, handle);
port.on('message', (message) => rpc.receive(message));
