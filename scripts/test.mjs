// npm test [-- FILTER…]: runs the tests whose path or name holds one of the filters; all of them without a filter.
//
//   --long, --soak, --browser, --cluster   run the *.long.test.ts (…) files in place of the others
//   --rerun   run each file that failed once more, alone, and print both outcomes; a file that passes then counts as
//             passed. Files with random interruptions are never run again: what one seed has found is a failure.
//   --times   tell which files took longest
//
// The failed tests are repeated at the end; the last line is "N passed, N failed".
import { randomInt } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { ensureBuilt, root } from './ensure-built.mjs';
import { batchesOf, betweenFiles } from './test-batches.mjs';

const kinds = ['long', 'soak', 'browser', 'cluster'];
/** These files draw what they do by lot; a second run would be another test. */
const neverRerun = [
  'test/crash/',
  'test/model/',
  'test/simulation/',
  'test/long/faults.',
  'test/cluster/faults.',
];

const timesShown = 40;

const args = process.argv.slice(2);
const kind = kinds.find((each) => args.includes(`--${each}`));
/** A page that hangs answers nothing, not even that it hangs. Soak tests, and many rounds of faults, take long. */
const isLengthy = kind === 'soak' || process.env.TUFFET_ROUNDS !== undefined;
const fileTimeoutMs = (kind === 'browser' ? 4 : isLengthy ? 60 : 10) * 60_000;
const filters = args.filter((arg) => !arg.startsWith('--'));

// A file that is run again meets the same random numbers.
process.env.TUFFET_RUN_SEED ??= String(randomInt(2 ** 32));
process.chdir(root);
await ensureBuilt();
oneTemporaryFolder();
const files = testFiles();
const byPath = files.filter((file) => filters.some((filter) => file.includes(filter)));
// Filters that fit no path are taken for names of tests.
const byName = filters.length > 0 && byPath.length === 0;
const chosen = byPath.length > 0 ? byPath : files;

let batches = [];
/** How many milliseconds the tests of each file took. */
const times = new Map();
const result = await runTests(chosen);
const reruns = args.includes('--rerun') ? await rerunFailed() : [];
for (const line of [...reruns, ...result.failures.map(describeFailure)]) process.stdout.write(`${line}\n`);

if (args.includes('--times')) process.stdout.write(describeTimes());

const nothingRan = filters.length > 0 && result.passed + result.failed === 0;
if (nothingRan) process.stderr.write(`No test fits ${filters.join(' ')}.\n`);
process.exitCode = result.failed > 0 || nothingRan ? 1 : 0;
const skipped = result.skipped > 0 ? `, ${result.skipped} skipped` : '';
process.stdout.write(`${result.passed} passed, ${result.failed} failed${skipped}\n`);

/** All that tests put into the folder for temporary files is in one of this run, and goes with it. */
function oneTemporaryFolder() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-'));
  process.env.TMPDIR = folder;
  process.on('exit', () => {
    try {
      fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    } catch (error) {
      process.stderr.write(`What tests have left could not be removed: ${error.message}\n`);
    }
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
}

async function runTests(chosenFiles) {
  const counted = { passed: 0, failed: 0, skipped: 0, failures: [] };
  if (chosenFiles.length === 0) return counted;
  // What is run again after a failure, and what measures, has a process for each file.
  const isShared = kind === undefined && chosenFiles === chosen;
  if (isShared) batches = batchesOf(chosenFiles, path.join(root, 'dist'), os.tmpdir());
  const events = run({
    files: isShared
      ? batches.map((batch) => batch.path)
      : chosenFiles.map((file) => path.join(root, 'dist', file)),
    // On two cores a third process fills the time in which others wait. Long tests measure waits and memory: each has the
    // machine to itself.
    concurrency: kind === undefined ? 3 : 1,
    timeout: fileTimeoutMs,
    ...(byName ? { testNamePatterns: filters.map((filter) => new RegExp(escape(filter), 'i')) } : {}),
  });
  events.on('test:pass', (test) => count(counted, test, 'passed'));
  events.on('test:fail', (test) => count(counted, test, 'failed'));
  const report = events.compose(new spec());
  report.pipe(process.stdout, { end: false });
  await new Promise((resolve) => report.on('end', resolve));
  return counted;
}

function count(counted, test, outcome) {
  if (test.nesting === 0 && test.name !== betweenFiles && !path.isAbsolute(test.name))
    times.set(test.file, (times.get(test.file) ?? 0) + test.details.duration_ms);
  // A group is counted by its tests, unless it broke by itself. A file shows up as a test when it broke off, which is
  // a failure, or when it held no test at all.
  const isGroup = test.details?.type === 'suite' || (test.nesting === 0 && path.isAbsolute(test.name));
  const failedByItsTests = test.details?.error?.failureType === 'subtestsFailed';
  // Node reports tests that a filter leaves out as skipped.
  if (/name does not match/.test(test.skip)) return;
  if (test.name === betweenFiles && outcome === 'passed') return;
  if (failedByItsTests || (isGroup && outcome === 'passed')) return;
  if (test.skip || test.todo) counted.skipped++;
  else {
    counted[outcome]++;
    if (outcome === 'failed') counted.failures.push(failureOf(test));
  }
}

function describeTimes() {
  const longest = [...times].sort(([, a], [, b]) => b - a).slice(0, timesShown);
  return longest.map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${sourceOf(file)}\n`).join('');
}

function sourceOf(file) {
  return path.relative(path.join(root, 'dist'), file).replace(/\.js$/, '.ts');
}

function failureOf(test) {
  const file = sourceOf(test.file ?? test.name);
  const { error } = test.details ?? {};
  const message = String(error?.cause?.stack ?? error?.cause ?? error?.message ?? 'failed');
  return { file, name: test.name, message };
}

function describeFailure({ file, name, message }) {
  const lines = message.split('\n').slice(0, 25);
  return `✖ ${file}: ${name}\n${lines.map((line) => `    ${line}`).join('\n')}`;
}

/** Runs the files of failed tests again, each alone; tells what came of it and corrects the result. */
async function rerunFailed() {
  const told = [];
  const failedFiles = [...new Set(result.failures.map(({ file }) => file))];
  for (const file of failedFiles) {
    const first = result.failures.filter((failure) => failure.file === file);
    if (neverRerun.some((folder) => file.startsWith(folder))) continue;
    const second = await runTests(entriesOf(file.replace(/\.ts$/, '.js')));
    told.push(...first.map(describeFailure));
    told.push(`  … ${file} run again, alone: ${second.passed} passed, ${second.failed} failed.`);
    if (second.failed > 0 || second.passed === 0) continue;
    result.failures = result.failures.filter((failure) => failure.file !== file);
    result.failed -= first.length;
    result.passed += first.length;
  }
  return told;
}

/** The files to run for a test that is in one of them, or in a suite that they share, or for a batch that broke off. */
function entriesOf(file) {
  if (files.includes(file)) return [file];
  const batch = batches.find((each) => path.basename(each.path) === path.basename(file));
  if (batch !== undefined) return batch.files;
  const name = `/${path.basename(file)}'`;
  return chosen.filter((each) => fs.readFileSync(path.join(root, 'dist', each), 'utf8').includes(name));
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
  const ofKind = new RegExp(`\\.(${kinds.join('|')})\\.test\\.js$`).exec(name)?.[1];
  if (!name.endsWith('.test.js') || ofKind !== kind) return false;
  return fs.existsSync(path.join(root, name.replace(/\.js$/, '.ts')));
}

function escape(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
