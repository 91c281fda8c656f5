import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** What small requests have met since the last time. */
export interface ProbeFigures {
  answers: number;
  failures: number;
  medianMs: number;
  p99Ms: number;
  longestMs: number;
}

/**
 * A client in a process of its own that sends a small GET every few milliseconds: what it waits for is the server, and
 * not the test that keeps the server busy.
 */
export class Probe {
  readonly #child: ChildProcess;

  constructor(url: string, everyMs = 5) {
    this.#child = fork(path.join(import.meta.dirname, 'probe-process.js'), [url, String(everyMs)]);
  }

  async take(): Promise<ProbeFigures> {
    const message = once(this.#child, 'message');
    this.#child.send('take');
    return ((await message) as [ProbeFigures])[0];
  }

  stop(): void {
    this.#child.kill();
  }
}
