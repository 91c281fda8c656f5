import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

/**
 * What a stranger gets: the package is made from a copy of the sources without a build, and installed into an empty
 * project.
 */
const root = path.resolve(import.meta.dirname, '../../..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-package-'));
const clone = path.join(folder, 'clone');
const project = path.join(folder, 'project');
const run = promisify(execFile);
const startTimeoutMs = 60_000;

let files: string[] = [];
/** Why nothing could be installed, where the registry of npm is out of reach. */
let unreachable: string | undefined;
const networkErrors = /\b(?:ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|ENOTCACHED)\b/;

before(async () => {
  copySources();
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: clone });
  const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  files = packed!.files.map((file) => file.path);
  fs.mkdirSync(project);
  fs.writeFileSync(path.join(project, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline'];
  await run('npm', ['install', ...quiet, path.join(folder, packed!.filename)], { cwd: project }).catch(
    (error: Error & { stderr: string }) => {
      const found = networkErrors.exec(error.stderr);
      if (found === null) throw error;
      unreachable = `NOT TESTED: the registry of npm can't be reached from here (${found[0]})`;
    },
  );
});

after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** As a clone has them; what the clone would install is lent to it. */
function copySources(): void {
  const left = new Set(['.git', 'node_modules', 'dist', 'data'].map((name) => path.join(root, name)));
  const filter = (source: string): boolean => !left.has(source);
  fs.cpSync(root, clone, { recursive: true, preserveTimestamps: true, filter });
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(clone, 'node_modules'));
  // What is lent counts as installed, and must not be replaced.
  fs.utimesSync(path.join(clone, 'package-lock.json'), 0, 0);
}

test('the package holds the program, its types and its pages, and no tests', () => {
  for (const name of ['dist/src/main/cli.js', 'dist/src/index.d.ts', 'README.md', 'LICENSE', 'docs/api.md'])
    assert.ok(files.includes(name), name);
  assert.deepEqual(
    files.filter((name) => /\.test\.|^dist\/(?:test|bench)|\.map$|random-/.test(name)),
    [],
  );
});

test('every page that the packed pages link to is packed', () => {
  const links = files
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) => {
      const text = fs.readFileSync(path.join(clone, name), 'utf8');
      const targets = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map((match) => match[1]!);
      return targets.map((target) => ({ name, target: path.join(path.dirname(name), target) }));
    });
  const missing = links.filter(({ target }) => {
    const plain = target.replace(/\/$/, '');
    return !files.some((file) => file === plain || file.startsWith(`${plain}/`));
  });
  assert.ok(links.length > 20);
  assert.deepEqual(missing, []);
});

test('npx tuffet serves from an empty project and stops on a signal', async (t) => {
  if (unreachable !== undefined) return t.skip(unreachable);
  const child = spawn('npx', ['tuffet', '--port', '0', '--data', path.join(folder, 'data')], {
    cwd: project,
    detached: true,
  });
  let output = '';
  child.stdout.on('data', (data) => (output += String(data)));
  try {
    const deadline = Date.now() + startTimeoutMs;
    while (!output.includes('Data:') && Date.now() < deadline && child.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const address = /listens on (\S+)/.exec(output)?.[1];
    const password = /password (\S+)/.exec(output)?.[1];
    assert.ok(address !== undefined && password !== undefined, output);
    const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
    const answer = await fetch(`${address}_all_dbs`, { headers: { authorization } });
    assert.deepEqual(await answer.json(), ['_global_changes', '_replicator', '_users']);
    assert.match(await (await fetch(`${address}_utils/`)).text(), /<html/i);
  } finally {
    process.kill(-child.pid!, 'SIGTERM');
    await once(child, 'exit');
  }
});

test('a module imports it, and a strict compiler accepts its types', async (t) => {
  if (unreachable !== undefined) return t.skip(unreachable);
  fs.writeFileSync(
    path.join(project, 'use.ts'),
    `import { createServer, StartupError, type Logger, type ServerOptions, type TuffetServer } from 'tuffet';
const options: ServerOptions = { inMemory: true, admins: { a: 'b' }, port: 0, logLevel: 'none' };
const server: TuffetServer = await createServer(options);
const port: number = server.port;
const url: string = server.url;
process.stdout.write(String(url.endsWith(\`:\${port}\`)));
await server.close();
export type { Logger };
export { StartupError };
`,
  );
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  const types = ['--typeRoots', path.join(root, 'node_modules/@types'), '--types', 'node'];
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', ...types];
  await run(process.execPath, [compiler, ...options, 'use.ts'], { cwd: project });
  const { stdout } = await run(process.execPath, ['use.js'], { cwd: project });
  assert.equal(stdout, 'true');
});

test('the systemd unit is accepted by systemd', async (t) => {
  const unit = fs.readFileSync(path.join(root, 'packaging/tuffet.service'), 'utf8');
  const file = path.join(folder, 'tuffet.service');
  // The check wants the program to exist.
  fs.writeFileSync(file, unit.replace('/usr/local/bin/tuffet', process.execPath));
  const verify = await run('systemd-analyze', ['verify', '--man=no', file]).catch((error: unknown) => error);
  if ((verify as NodeJS.ErrnoException).code === 'ENOENT') return t.skip('systemd is not installed here');
  assert.ok(!(verify instanceof Error), String(verify));
  assert.equal((verify as { stderr: string }).stderr, '');
});
