import { SystemRuntime } from '../../src/base/runtime.js';
import os from 'node:os';
import { ScriptHost } from '../../src/script/script-host.js';
import type { Sample } from '../figures/figure.js';
import { makeTexts } from '../texts.js';
import { answerEach, say, settings } from './child.js';

/** Floor 10: the function of a search index run over all texts in the sandbox, on as many threads, and its calls thrown away. */
const { docs } = settings<{ docs: number }>();
const batchDocs = 500;
const threads = os.availableParallelism();
const texts = makeTexts(docs).map(
  (text, i) => `{"_id":"${i}","_rev":"1-${'0'.repeat(32)}","text":"${text}"}`,
);
const scripts = new ScriptHost({
  runtime: new SystemRuntime(),
  threads,
  memory_bytes: 64 * 1024 * 1024,
  timeoutMs: () => 60_000,
  log: () => {},
});
let runs = 0;

async function run(): Promise<Sample> {
  const maps = [`function (doc) { index('default', doc.text); } // ${++runs}`];
  const program = { id: `program ${runs}`, lib: undefined, maps, searchApi: 'search' as const };
  const started = performance.now();
  let at = 0;
  const loop = async (): Promise<void> => {
    while (at < texts.length) await scripts.map('bench', program, texts.slice(at, (at += batchDocs)));
  };
  await Promise.all(Array.from({ length: threads + 1 }, loop));
  return { units: texts.length, seconds: (performance.now() - started) / 1000 };
}

answerEach(run);
say('ready');
