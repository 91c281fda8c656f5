// Installs and builds what is missing or out of date, so that a fresh clone needs no other step.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '..');

const sourceFolders = ['src', 'test', 'bench', 'admin'];
const buildInputs = [
  'package.json',
  'tsconfig.json',
  'scripts/copy-assets.mjs',
  'scripts/ensure-built.mjs',
  // The admin page shows the meanings of options that this page has.
  'docs/configuration.md',
];

export async function ensureBuilt() {
  ensureInstalled();
  const newest = Math.max(...sourceFolders.map(newestIn), ...buildInputs.map(changedAt));
  if (changedAt('dist/.built') > newest) return;
  await build();
}

/** Compiles to dist, and notes when. */
export async function build() {
  const started = new Date();
  await compile('tsconfig.json');
  // The stamp says when the build began: what was edited meanwhile may not be in it.
  const stamp = path.join(root, 'dist/.built');
  fs.writeFileSync(stamp, '');
  fs.utimesSync(stamp, started, started);
}

/** The server and the admin page share nothing, so both are compiled at the same time. */
export async function compile(project) {
  say('Building…');
  await Promise.all([node('node_modules/typescript/bin/tsc', '-p', project), buildAdminPage()]);
  await node('scripts/copy-assets.mjs');
}

/** Takes longer than its share, so it is left out where nothing of the page has changed. */
async function buildAdminPage() {
  const newest = Math.max(newestIn('admin'), ...buildInputs.map(changedAt));
  if (changedAt('dist/admin/index.html') > newest) return;
  await node('node_modules/typescript/bin/tsc', '-p', 'admin/tsconfig.json');
  await node('node_modules/vite/bin/vite.js', 'build', '-c', 'admin/vite.config.mjs');
}

export function ensureInstalled() {
  // npm writes this file at the end of an installation that succeeded.
  if (changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')) return;
  say('Installing dependencies…');
  npm('ci', '--no-audit', '--no-fund', '--loglevel=error');
  const now = new Date();
  fs.utimesSync(path.join(root, 'node_modules/.package-lock.json'), now, now);
}

// What programs print goes to standard error: standard output belongs to the program that is started.
const output = ['ignore', 2, 2];

/** Runs a program of this project's, and ends this one where it fails. */
async function node(...args) {
  const [status] = await once(spawn(process.execPath, args, { cwd: root, stdio: output }), 'exit');
  if (status !== 0) process.exit(status ?? 1);
}

function npm(...args) {
  const isWindows = process.platform === 'win32';
  const { status } = spawnSync('npm', args, { cwd: root, stdio: output, shell: isWindows });
  if (status !== 0) process.exit(status ?? 1);
}

function newestIn(folder) {
  const absolute = path.join(root, folder);
  if (!fs.existsSync(absolute)) return 0;
  const names = fs.readdirSync(absolute, { recursive: true });
  // A folder's own time tells of files that were removed.
  return Math.max(changedAt(folder), ...names.map((name) => changedAt(path.join(folder, name))));
}

function changedAt(name) {
  return fs.statSync(path.join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function say(message) {
  process.stderr.write(`${message}\n`);
}
