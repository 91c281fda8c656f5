import fs from 'node:fs';

/** From this size on lines are written at once. */
const atOnceChars = 8 * 1024;
/** Lines beyond that are dropped: bytes of what could not be written, and characters of what came later. */
const waitingMax = 4 * 1024 * 1024;

/**
 * Lines on their way to a file, a pipe or a terminal, written together and by another thread, so that no caller waits for them. What
 * cannot be written, because the disk is full or the pipe is not read, is tried again with what comes later; and once when the
 * process ends, however it ends, but never for longer than that.
 */
export class LogOutput {
  #descriptor: number;
  /** Another one, to be used when no line is on its way. */
  #next: number | undefined;
  /** What could not be written as a whole. */
  #rest: Buffer | undefined;
  #lines = '';
  #isWriting = false;
  #isClosed = false;
  #whenIdle: (() => void)[] = [];

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
    openOutputs.add(this);
  }

  write(line: string): void {
    const waiting = (this.#rest?.length ?? 0) + this.#lines.length;
    if (this.#isClosed || waiting + line.length > waitingMax) return;
    this.#lines += line;
    if (this.#lines.length >= atOnceChars && this.#rest === undefined) this.flush();
  }

  /** Begins to write what waits. */
  flush(): void {
    if (this.#isWriting) return;
    this.#takeNext();
    const bytes = this.#takeWaiting();
    if (bytes === undefined) return this.#idle();
    this.#isWriting = true;
    fs.write(this.#descriptor, bytes, (error, written) => {
      this.#isWriting = false;
      if (this.#isClosed) return this.#closeDescriptors();
      if (error !== null || written < bytes.length) this.#rest = bytes.subarray(error === null ? written : 0);
      // After a failure it is tried again at the next call.
      if (error !== null || !this.#isWorthWriting()) this.#idle();
      else this.flush();
    });
  }

  /** Writes to another descriptor from the next line on; the one before is closed. */
  changeTo(descriptor: number): void {
    if (this.#next !== undefined) fs.closeSync(this.#next);
    this.#next = descriptor;
    if (!this.#isWriting) this.#takeNext();
  }

  /** Resolves when all was written, or could not be. */
  written(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.flush();
    });
  }

  /** Lines that still wait are lost. */
  close(): void {
    this.#isClosed = true;
    openOutputs.delete(this);
    if (!this.#isWriting) this.#closeDescriptors();
  }

  /** Tries once to write what waits, before this call returns. */
  writeNow(): void {
    for (let bytes = this.#takeWaiting(); bytes !== undefined; bytes = this.#takeWaiting()) {
      const written = fs.writeSync(this.#descriptor, bytes);
      if (written < bytes.length) this.#rest = bytes.subarray(written);
    }
  }

  #takeWaiting(): Buffer | undefined {
    if (this.#rest === undefined && this.#lines === '') return undefined;
    const lines = Buffer.from(this.#lines);
    const bytes = this.#rest === undefined ? lines : Buffer.concat([this.#rest, lines]);
    this.#rest = undefined;
    this.#lines = '';
    return bytes;
  }

  #isWorthWriting(): boolean {
    return this.#rest !== undefined || this.#lines.length >= atOnceChars || this.#whenIdle.length > 0;
  }

  #idle(): void {
    for (const done of this.#whenIdle.splice(0)) done();
  }

  #takeNext(): void {
    if (this.#next === undefined) return;
    closeUnlessStandard(this.#descriptor);
    this.#descriptor = this.#next;
    this.#next = undefined;
  }

  #closeDescriptors(): void {
    this.#takeNext();
    closeUnlessStandard(this.#descriptor);
  }
}

const standardErrorDescriptor = 2;

function closeUnlessStandard(descriptor: number): void {
  if (descriptor > standardErrorDescriptor) fs.closeSync(descriptor);
}

const openOutputs = new Set<LogOutput>();

// An output that is still open then was not closed: an error ended the process, or somebody who would not wait.
process.on('exit', () => {
  for (const output of openOutputs) {
    try {
      output.writeNow();
    } catch {
      // The log has nowhere to report that it can't be written.
    }
  }
});
