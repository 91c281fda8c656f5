// npm test [-- FILTER…]: runs the tests whose path or name holds one of the filters; all of them without a filter.
// With --long it runs the *.long.test.ts files in place of the others, with --soak the *.soak.test.ts files. The last line is "N passed, N failed".
import fs from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { ensureBuilt, root } from './ensure-built.mjs';

const fileTimeoutMs = 10 * 60_000;

const args = process.argv.slice(2);
const kind = ['long', 'soak'].find((each) => args.includes(`--${each}`));
const filters = args.filter((arg) => !arg.startsWith('--'));

process.chdir(root);
ensureBuilt();
const files = testFiles();
const byPath = files.filter((file) => filters.some((filter) => file.includes(filter)));
// Filters that fit no path are taken for names of tests.
const byName = filters.length > 0 && byPath.length === 0;
const chosen = byPath.length > 0 ? byPath : files;

const counts = { passed: 0, failed: 0, skipped: 0 };
if (chosen.length > 0) await runTests(chosen);
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
const nothingRan = filters.length > 0 && counts.passed + counts.failed === 0;
if (nothingRan) process.stderr.write(`No test fits ${filters.join(' ')}.\n`);
process.exitCode = counts.failed > 0 || nothingRan ? 1 : 0;
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`);

async function runTests(chosenFiles) {
  const events = run({
    files: chosenFiles.map((file) => path.join(root, 'dist', file)),
    // Long tests measure waits and memory: each has the machine to itself.
    concurrency: kind === undefined ? 2 : 1,
    timeout: fileTimeoutMs,
    ...(byName ? { testNamePatterns: filters.map((filter) => new RegExp(escape(filter), 'i')) } : {}),
  });
  events.on('test:pass', (test) => count(test, 'passed'));
  events.on('test:fail', (test) => count(test, 'failed'));
  const report = events.compose(new spec());
  report.pipe(process.stdout, { end: false });
  await new Promise((resolve) => report.on('end', resolve));
}

function count(test, outcome) {
  // A group is counted by its tests, unless it broke by itself. A file shows up as a test when it broke off, which is
  // a failure, or when it held no test at all.
  const isGroup = test.details?.type === 'suite' || (test.nesting === 0 && path.isAbsolute(test.name));
  const failedByItsTests = test.details?.error?.failureType === 'subtestsFailed';
  // Node reports tests that a filter leaves out as skipped.
  if (/name does not match/.test(test.skip)) return;
  if (failedByItsTests || (isGroup && outcome === 'passed')) return;
  if (test.skip || test.todo) counts.skipped++;
  else counts[outcome]++;
}

function testFiles() {
  const names = ['src', 'test'].flatMap((folder) => {
    const absolute = path.join(root, 'dist', folder);
    if (!fs.existsSync(absolute)) return [];
    return fs.readdirSync(absolute, { recursive: true }).map((name) => path.join(folder, name));
  });
  return names.filter(isWanted).sort();
}

/** Whether the file is a test of the kind asked for whose source still exists. */
function isWanted(name) {
  if (!name.endsWith('.test.js') || /\.(long|soak)\.test\.js$/.exec(name)?.[1] !== kind) return false;
  return fs.existsSync(path.join(root, name.replace(/\.js$/, '.ts')));
}

function escape(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
