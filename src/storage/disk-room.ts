import fs from 'node:fs';
import path from 'node:path';
import type { Runtime } from '../base/runtime.js';
import { StorageError } from '../base/storage-errors.js';
import type { StoreSize, Write } from './store.js';

/** Room that is left to others, and to what can't be reckoned beforehand. */
const reserveBytes = 1024 * 1024;
/** Bytes of the disk that a byte of a batch takes at most, and what each write takes beside that: pages are copied. */
const factor = 3;
const writeBytes = 4 * 1024;
/** With so much room left, it is enough to look once in a while. */
const plentyBytes = 1024 ** 3;
const lookMs = 1_000;

/**
 * Refuses a batch that the disk has no room for, or cannot write at all, before LMDB meets that. LMDB would refuse it too,
 * but only after a part is written; and the version of it in use overruns a buffer when it words the error of a write,
 * which may end the process (decision 020).
 */
export class DiskRoom {
  /** A file without a name, on the disk of the store. */
  #probe: number | undefined;
  #freeBytes = 0;
  #lookedAt = -Infinity;

  constructor(
    private readonly folder: string,
    private readonly runtime: Runtime,
  ) {}

  check(writes: readonly Write[], size: () => StoreSize): void {
    this.#tryToWrite();
    let bytes = reserveBytes;
    for (const { key, value } of writes) bytes += factor * (key.length + (value?.length ?? 0)) + writeBytes;
    if (this.#free() >= bytes) return;
    // Free pages of the file are room as well, if not all of them can be had at once.
    const { file_bytes, used_bytes } = size();
    if (file_bytes - used_bytes >= 2 * bytes) return;
    throw new StorageError(
      'insufficient_storage',
      'The disk of the server is full; nothing was stored.',
      new Error(`${this.#freeBytes} bytes are free on the disk of ${this.folder}, ${bytes} may be needed`),
    );
  }

  close(): void {
    if (this.#probe !== undefined) fs.closeSync(this.#probe);
    this.#probe = undefined;
  }

  /** A file system that was shut down or made read-only after an error refuses every write, this one too. */
  #tryToWrite(): void {
    if (process.platform === 'win32') return;
    this.#probe ??= openNameless(path.join(this.folder, 'probe'));
    fs.writeSync(this.#probe, probeByte, 0, 1, 0);
  }

  #free(): number {
    const now = this.runtime.monotonicMs();
    if (this.#freeBytes > plentyBytes && now - this.#lookedAt < lookMs) return this.#freeBytes;
    this.#lookedAt = now;
    const { bavail, bsize } = fs.statfsSync(this.folder);
    this.#freeBytes = bavail * bsize;
    return this.#freeBytes;
  }
}

const probeByte = Buffer.alloc(1);

function openNameless(file: string): number {
  const probe = fs.openSync(file, 'w', 0o600);
  fs.rmSync(file);
  return probe;
}
