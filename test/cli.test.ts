import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from './support/server.js';
import { pemFile } from './support/tls.js';

const program = path.resolve(import.meta.dirname, '../src/main/cli.js');
const startTimeoutMs = 30_000;

interface Run {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  ended: Promise<number | null>;
}

function start(
  t: TestContext,
  args: string[],
  environment: NodeJS.ProcessEnv = {},
  cwd = temporaryFolder(),
): Run {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], ...environment },
  });
  t.after(() => child.kill('SIGKILL'));
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (data) => (output.stdout += String(data)));
  child.stderr.on('data', (data) => (output.stderr += String(data)));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, output, ended };
}

/** Waits for the lines that the server prints when it listens, and gives its address. */
async function listening({ output, child }: Run): Promise<string> {
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline) {
    const address = /listens on (http:\S+)/.exec(output.stdout)?.[1];
    if (address !== undefined && output.stdout.includes('Data:')) return address;
    if (child.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail(`The server did not start: ${output.stderr}`);
}

function authorization(credentials: string): { headers: { authorization: string } } {
  return { headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } };
}

test('--help and --version print and end well', async (t) => {
  const help = start(t, ['--help']);
  assert.equal(await help.ended, 0);
  assert.match(help.output.stdout, /^Usage: tuffet[^]*--in-memory/);
  const version = start(t, ['--version']);
  assert.equal(await version.ended, 0);
  assert.match(version.output.stdout, /^\d+\.\d+\.\d+\S*\n$/);
});

test('a server whose log nobody reads any more ends when it is told to', async (t) => {
  const run = start(t, ['--port', '0', '--in-memory', '--admin', 'ann:secret', '--log-level', 'info']);
  const address = await listening(run);
  run.child.stderr!.destroy();
  assert.equal((await fetch(`${address}_up`)).status, 200);
  run.child.kill('SIGTERM');
  assert.equal(await run.ended, 0);
});

test('a server whose log has no room on the disk ends when it is told to', async (t) => {
  if (!fs.existsSync('/dev/full')) return t.skip('there is no /dev/full');
  const log = { TUFFET__LOG__WRITER: 'file', TUFFET__LOG__FILE: '/dev/full' };
  const run = start(t, ['--port', '0', '--in-memory', '--admin', 'ann:secret'], log);
  await listening(run);
  run.child.kill('SIGTERM');
  assert.equal(await run.ended, 0);
});

test('a first start without an admin makes one and shows its password once', async (t) => {
  const cwd = temporaryFolder();
  const first = start(t, ['--port', '0'], {}, cwd);
  const address = await listening(first);
  const password = /name admin, password (\S{16,})\n/.exec(first.output.stdout)?.[1];
  assert.ok(password !== undefined);
  assert.equal((await fetch(`${address}_all_dbs`, authorization(`admin:${password}`))).status, 200);
  assert.equal(fs.statSync(path.join(cwd, 'data')).mode & 0o777, 0o700);
  assert.ok(!fs.readFileSync(path.join(cwd, 'data/config-api.ini'), 'utf8').includes(password));
  first.child.kill('SIGTERM');
  assert.equal(await first.ended, 0);
  assert.match(first.output.stderr, /NOTICE stopped/);

  const second = start(t, ['--port', '0'], {}, cwd);
  const again = await listening(second);
  assert.ok(!second.output.stdout.includes('password'));
  assert.equal((await fetch(`${again}_all_dbs`, authorization(`admin:${password}`))).status, 200);
});

test('a folder in use whose admin only a command line named is not given another', async (t) => {
  const cwd = temporaryFolder();
  fs.mkdirSync(path.join(cwd, 'data'));
  fs.writeFileSync(
    path.join(cwd, 'data/tuffet.json'),
    '{"format":1,"uuid":"00000000000000000000000000000000"}',
  );
  const run = start(t, ['--port', '0'], {}, cwd);
  assert.equal(await run.ended, 1);
  assert.match(run.output.stderr, /npx tuffet --admin admin:PASSWORD/);
  assert.deepEqual(fs.readdirSync(path.join(cwd, 'data')), ['tuffet.json']);
});

test('short commands start without loading the server', async (t) => {
  const run = start(t, ['--version'], { NODE_DEBUG: 'esm' });
  assert.equal(await run.ended, 0);
  assert.match(run.output.stderr, /main\/usage\.js/);
  assert.doesNotMatch(run.output.stderr, /create-server\.js|http-server\.js|lmdb/);
});

test('a wrong command line gives one line and a hint', async (t) => {
  const wrong: [string[], RegExp][] = [
    [['--prot', '1'], /'--prot'/],
    [['--port'], /--port/],
    [['--port', 'x'], /"x" is not a port/],
    [['--port', '65536'], /not a port/],
    [['--admin', 'onlyname'], /NAME:PASSWORD/],
    [['--log-level', 'loud'], /not a log level/],
    [['dance'], /no command "dance"/],
    [['--data', 'x', 'doctor'], /comes before its options/],
    [['serve', 'well'], /Unexpected argument "well"/],
    [['--in-memory', '--data', 'x'], /exclude each other/],
    [['--json'], /--json is for doctor/],
    [['doctor', '--in-memory'], /looks at a folder/],
    [['--tls-cert', 'x'], /--tls-cert and --tls-key/],
    [['--tls-port', '0', '--tls-cert', 'x'], /--tls-cert and --tls-key/],
    [['--tls-cert', 'x', '--tls-key', 'x', '--tls-port', 'x'], /not a port/],
  ];
  for (const [args, message] of wrong) {
    const run = start(t, args);
    assert.equal(await run.ended, 1, args.join(' '));
    assert.match(run.output.stderr, message);
    assert.match(run.output.stderr, /^[^\n]* See tuffet --help\.\n$/);
  }
});

test('a password without a name in the environment is pointed out', async (t) => {
  const run = start(t, [], { TUFFET_PASSWORD: 'x' });
  assert.equal(await run.ended, 1);
  assert.equal(run.output.stderr, 'TUFFET_PASSWORD is set, but not TUFFET_USER.\n');
});

test('a configuration file that does not exist is pointed out', async (t) => {
  const run = start(t, ['--admin', 'a:b', '--config', '/nowhere/x.ini']);
  assert.equal(await run.ended, 1);
  assert.match(run.output.stderr, /^[^\n]*\/nowhere\/x\.ini[^\n]*\n$/);
});

test('it serves, says where, and ends well when told to stop', async (t) => {
  const cwd = temporaryFolder();
  const run = start(t, ['serve', '--admin', 'ann:secret', '--port', '0'], {}, cwd);
  const address = await listening(run);
  assert.ok(run.output.stdout.includes(`Admin page: ${address}_utils/`));
  assert.match(run.output.stdout, /Data: .*data/);
  assert.equal((await fetch(address)).status, 200);
  assert.equal((await fetch(`${address}_all_dbs`, authorization('ann:secret'))).status, 200);
  assert.equal((await fetch(`${address}_all_dbs`, authorization('ann:wrong'))).status, 401);
  run.child.kill('SIGTERM');
  assert.equal(await run.ended, 0);
  assert.equal(fs.existsSync(path.join(cwd, 'data')), true);
});

test('the admin may come from a secret file, and nothing is written in memory', async (t) => {
  const cwd = temporaryFolder();
  const secret = path.join(temporaryFolder(), 'password');
  fs.writeFileSync(secret, 'from file\n');
  const environment = { COUCHDB_USER: 'ann', COUCHDB_PASSWORD_FILE: secret, TUFFET_PORT: '0' };
  const run = start(t, ['--in-memory'], environment, cwd);
  const address = await listening(run);
  assert.equal((await fetch(`${address}_all_dbs`, authorization('ann:from file'))).status, 200);
  run.child.kill('SIGINT');
  assert.equal(await run.ended, 0);
  assert.deepEqual(fs.readdirSync(cwd), []);
});

test('--cors opens the server to pages, --tls-cert and --tls-key serve TLS too', async (t) => {
  const tls = ['--tls-cert', pemFile('server-cert'), '--tls-key', pemFile('server-key'), '--tls-port', '0'];
  const run = start(t, ['--in-memory', '--admin', 'ann:secret', '--port', '0', '--cors', ...tls]);
  const address = await listening(run);
  const answer = await fetch(address, { headers: { origin: 'http://localhost:3000' } });
  assert.equal(answer.headers.get('access-control-allow-origin'), 'http://localhost:3000');
  assert.equal(answer.headers.get('access-control-allow-credentials'), 'true');
  assert.match(run.output.stdout, /listens on http:\S+ and https:\/\/127\.0\.0\.1:\d+\/\n/);
});

test('any option may come from the environment, and one that is none stops the start', async (t) => {
  const environment = { TUFFET_PORT: '0', TUFFET__UUIDS__MAX_COUNT: '3' };
  const run = start(t, ['--in-memory', '--admin', 'ann:secret'], environment);
  const address = await listening(run);
  assert.equal((await fetch(`${address}_uuids?count=3`)).status, 200);
  assert.equal((await fetch(`${address}_uuids?count=4`)).status, 400);
  const wrong = start(t, ['--in-memory', '--admin', 'a:b'], { TUFFET__UUIDS__MAXCOUNT: '3' });
  assert.equal(await wrong.ended, 1);
  assert.match(wrong.output.stderr, /^TUFFET__UUIDS__MAXCOUNT is set, but [^\n]*\n$/);
});

test('a port in use and a folder that cannot be used each give one line', async (t) => {
  const taken = net.createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const { port } = taken.address() as net.AddressInfo;
  const busy = start(t, ['--in-memory', '--admin', 'a:b', '--port', String(port), '--log-level', 'none']);
  assert.equal(await busy.ended, 1);
  assert.match(busy.output.stderr, new RegExp(`^[^\\n]*${port}[^\\n]*\\n$`));

  const file = path.join(temporaryFolder(), 'a-file');
  fs.writeFileSync(file, '');
  const blocked = start(t, ['--data', file, '--admin', 'a:b', '--port', '0', '--log-level', 'none']);
  assert.equal(await blocked.ended, 1);
  assert.match(blocked.output.stderr, /^[^\n]*a-file[^\n]*\n$/);
});
