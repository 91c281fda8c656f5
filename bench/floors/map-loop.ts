import { SystemRuntime } from '../../src/base/runtime.js';
import os from 'node:os';
import { ScriptHost } from '../../src/script/script-host.js';
import { makeDocuments } from '../documents.js';
import type { Sample } from '../figures/figure.js';
import { benchViews } from '../views.js';
import { answerEach, say, settings } from './child.js';

/** Floor 7: the map functions run over all documents in the sandbox, on as many threads, and the rows thrown away. */
const { docs } = settings<{ docs: number }>();
const batchDocs = 500;
const threads = os.availableParallelism();
const texts = makeDocuments(docs).map(
  ({ id, body }) => `{"_id":"${id}","_rev":"1-${'0'.repeat(32)}",${body.slice(1)}`,
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
  const maps = Object.values(benchViews(String(++runs))).map(({ map }) => map);
  const program = { id: `program ${runs}`, lib: undefined, maps };
  const started = performance.now();
  let at = 0;
  const loop = async (): Promise<void> => {
    while (at < texts.length) {
      const batch = texts.slice(at, (at += batchDocs));
      await scripts.map('bench', program, batch);
    }
  };
  await Promise.all(Array.from({ length: threads + 1 }, loop));
  return { units: texts.length, seconds: (performance.now() - started) / 1000 };
}

answerEach(run);
say('ready');
