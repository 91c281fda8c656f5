// Test files that share a process. Loading and warming up the server takes about a second of processor time: with a
// process for each of more than 300 files, that was a third of `npm test`. What V8 compiles for speed it compiles in each
// process anew: 37 files took a fifth less processor time in one process than in four.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const batchSize = 24;

/** The name of the test by which a batch loads a file when the tests of the one before have ended. */
export const betweenFiles = 'the next file loads';

/**
 * What a file does to its process, or measures of it, beside its tests: hooks around every test of the process, settings,
 * handlers, memory, turns of the loop. Such a file has a process of its own.
 */
const ownProcess = [
  /^(before|beforeEach|afterEach)\(/m,
  /\bmock\.|\bObject\.assign\((Intl|globalThis)\b/,
  /\bprocess\.(env\b|on\(|once\(|chdir\(|exit|memoryUsage|cpuUsage|resourceUsage)/,
  /\b(monitorEventLoopDelay|eventLoopUtilization|setFlagsFromString|getHeapStatistics)\b/,
];

/**
 * What to start for the given test files, which are relative to `dist`: each entry has the path to start and the files that
 * it runs. Those that share a process are put together by entries in `folder`.
 */
export function batchesOf(files, dist, folder) {
  const batches = [];
  let open;
  for (const file of files) {
    const absolute = path.join(dist, file);
    const text = fs.readFileSync(absolute, 'utf8');
    if (ownProcess.some((sign) => sign.test(text))) batches.push({ path: absolute, files: [file] });
    else if (open !== undefined && open.files.length < batchSize) open.files.push(file);
    else
      batches.push((open = { path: path.join(folder, `batch-${batches.length}.test.mjs`), files: [file] }));
  }
  for (const batch of batches) {
    if (batch.files.length === 1) batch.path = path.join(dist, batch.files[0]);
    else fs.writeFileSync(batch.path, entryOf(batch.files, dist));
  }
  // Those with one file are short, and leave no core without work at the end.
  return batches.sort((a, b) => Number(a.files.length === 1) - Number(b.files.length === 1));
}

/**
 * The runner closes a process's servers as soon as no test is left. So each file is loaded while a test runs that waits for
 * it, at the top level, where its tests belong to no other one and stand in line behind that test.
 */
function entryOf(files, dist) {
  const urls = files.map((file) => pathToFileURL(path.join(dist, file)).href);
  return `import { test } from 'node:test';
for (const url of ${JSON.stringify(urls)}) {
  let loaded;
  const loading = new Promise((resolve, reject) => (loaded = { resolve, reject }));
  await new Promise((reached) => {
    test(${JSON.stringify(betweenFiles)}, () => {
      reached();
      return loading;
    });
  });
  await import(url).then(loaded.resolve, loaded.reject);
}
`;
}
