import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** A file that is written piece by piece, at its end only. */
export class GrowingFile {
  handle: FileHandle | undefined;
  created = false;
  /** The closing of its handle, by someone who needed the room. */
  eviction: Promise<void> | undefined;
  failure: Error | undefined;

  constructor(readonly path: string) {}
}

const reopenFlags = constants.O_WRONLY | constants.O_APPEND;

/**
 * Lets any number of files grow with at most `filesMax` of them open. A file keeps its handle while there is room; when
 * there is none, the handle that has been idle longest is closed, to be opened again with the next piece. A handle is
 * busy during one disk operation only, never while its writer waits for a client, so slow uploads cannot lock out others.
 */
export class OpenFiles {
  /** In the order in which they became idle. */
  readonly #idle = new Set<GrowingFile>();
  readonly #waiting: (() => void)[] = [];
  readonly #filesMax: number;
  #opened = 0;

  constructor(filesMax: number) {
    this.#filesMax = filesMax;
  }

  /** Runs one operation on the file. The operations of one file must not overlap. */
  async use<T>(file: GrowingFile, operation: (handle: FileHandle) => Promise<T>): Promise<T> {
    const handle = this.#idle.delete(file) ? file.handle! : await this.#reopen(file);
    try {
      return await operation(handle);
    } finally {
      this.#idle.add(file);
      this.#wake();
    }
  }

  async close(file: GrowingFile): Promise<void> {
    if (!this.#idle.delete(file)) return await file.eviction;
    const handle = file.handle!;
    file.handle = undefined;
    await this.#release(handle);
  }

  async #reopen(file: GrowingFile): Promise<FileHandle> {
    await file.eviction;
    if (file.failure !== undefined) throw file.failure;
    await this.#room();
    try {
      // Never created on reopening: a file removed meanwhile must not reappear truncated.
      file.handle = await open(file.path, file.created ? reopenFlags : 'ax', 0o600);
      file.created = true;
      return file.handle;
    } catch (error) {
      this.#opened--;
      this.#wake();
      throw error;
    }
  }

  /** Resolves with one more counted as open. */
  async #room(): Promise<void> {
    while (this.#opened >= this.#filesMax) {
      const [longest] = this.#idle;
      if (longest !== undefined) await this.#evict(longest);
      else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#opened++;
  }

  #evict(file: GrowingFile): Promise<void> {
    this.#idle.delete(file);
    const handle = file.handle!;
    file.handle = undefined;
    // A handle opened later is not told of a write that failed before, so this one has to ask.
    file.eviction = handle
      .datasync()
      .finally(() => this.#release(handle))
      .catch((error: Error) => void (file.failure = error));
    return file.eviction;
  }

  async #release(handle: FileHandle): Promise<void> {
    try {
      await handle.close();
    } finally {
      this.#opened--;
      this.#wake();
    }
  }

  #wake(): void {
    this.#waiting.shift()?.();
  }
}
