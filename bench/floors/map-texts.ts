import os from 'node:os';
import { asBytes } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { ScriptHost, type MapProgram } from '../../src/script/script-host.js';
import type { Sample } from '../figures/figure.js';
import { answerEach, say } from './child.js';

const batchDocs = 500;

/**
 * Runs the functions of a program over all documents in the sandbox, on as many threads as the server uses, and throws
 * the results away. `programOf` gives a new program for each run.
 */
export function answerByMapping(texts: readonly string[], programOf: (run: number) => MapProgram): void {
  const threads = os.availableParallelism();
  const scripts = new ScriptHost({
    runtime: new SystemRuntime(),
    threads,
    memory_bytes: 64 * 1024 * 1024,
    timeoutMs: () => 60_000,
    log: () => {},
  });
  let runs = 0;
  const run = async (): Promise<Sample> => {
    const program = programOf(++runs);
    const started = performance.now();
    let at = 0;
    const loop = async (): Promise<void> => {
      while (at < texts.length)
        await scripts.map('bench', program, texts.slice(at, (at += batchDocs)).map(asBytes));
    };
    await Promise.all(Array.from({ length: threads + 1 }, loop));
    return { units: texts.length, seconds: (performance.now() - started) / 1000 };
  };
  answerEach(run);
  say('ready');
}
