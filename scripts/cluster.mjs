// npm run cluster: starts three NATS servers and three nodes on this machine, to try a cluster. Ends all on Ctrl-C.
// TUFFET_PORT is the port of the first node, 5981 unless given; 0 takes free ones.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { ensureBuilt, root } from './ensure-built.mjs';
import { ensureNats } from './ensure-nats.mjs';

const { fetch, AbortSignal, setTimeout, clearTimeout } = globalThis;

const firstPort = Number(process.env.TUFFET_PORT ?? 5981);
const password = 'secret';
const startMs = 120_000;

if (!ensureNats()) {
  process.stderr.write('There is no nats-server: install it, on Debian with apt-get install nats-server.\n');
  process.exit(1);
}
await ensureBuilt();

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-cluster-'));
const children = [];
let isEnding = false;

/** All are asked to end, the nodes before the servers that they need. */
async function end(code) {
  if (isEnding) return;
  isEnding = true;
  for (const child of children.toReversed()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(late);
  }
  if (code === 0) fs.rmSync(folder, { recursive: true, force: true });
  process.exit(code);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end(0));

function run(name, command, args, environment = {}) {
  const log = fs.openSync(path.join(folder, `${name}.log`), 'a');
  const child = spawn(command, args, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', log, log],
    // A Ctrl-C is for this process, which ends the others in order.
    detached: true,
  });
  children.push(child);
  return child;
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const freePorts = () => Promise.all([1, 2, 3].map(freePort));

async function until(what, holds) {
  for (const late = Date.now() + startMs; Date.now() < late && !isEnding;) {
    if (await holds().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  if (isEnding) return;
  process.stderr.write(`${what} did not start; see the logs in ${folder}.\n`);
  process.exitCode = 1;
  throw new Error(`${what} did not start`);
}

const answers = async (url) => (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;

async function startServers() {
  const [clients, routes, monitoring] = [await freePorts(), await freePorts(), await freePorts()];
  for (const [at, port] of clients.entries())
    run(`nats${at + 1}`, 'nats-server', [
      ...['-a', '127.0.0.1', '-p', String(port), '-m', String(monitoring[at])],
      ...['-js', '-sd', path.join(folder, `nats${at + 1}`), '--name', `nats${at + 1}`],
      ...['--cluster_name', 'tuffet', '--cluster', `nats://127.0.0.1:${routes[at]}`],
      ...['--routes', routes.map((route) => `nats://127.0.0.1:${route}`).join(',')],
    ]);
  for (const port of monitoring)
    await until('A NATS server', () => answers(`http://127.0.0.1:${port}/healthz`));
  return clients.map((port) => `nats://127.0.0.1:${port}`).join(',');
}

function startNode(at, servers) {
  const name = `n${at + 1}`;
  const environment = { TUFFET__CLUSTER__SECRET: 'for trying', TUFFET__CLUSTER__REPLICAS: '3' };
  const args = ['--cluster', servers, '--node-name', name, '--allow-unsafe-log'];
  args.push(
    '--port',
    new URL(urls[at]).port,
    '--data',
    path.join(folder, name),
    '--admin',
    `admin:${password}`,
  );
  run(name, process.execPath, [path.join(root, 'dist/src/main/cli.js'), ...args], environment);
}

const ports = firstPort === 0 ? await freePorts() : [0, 1, 2].map((at) => firstPort + at);
const urls = ports.map((port) => `http://127.0.0.1:${port}`);
/** Each node has made a hash of the password; with one for all, each accepts the cookies of the others. */
async function shareAdmin() {
  const Authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
  const option = new URL('/_node/_local/_config/admins/admin', urls[0]);
  await fetch(option, { method: 'PUT', headers: { Authorization }, body: JSON.stringify(password) });
}

const login = (at) => urls[at].replace('://', `://admin:${password}@`);

try {
  const servers = await startServers();
  for (const at of urls.keys()) startNode(at, servers);
  for (const url of urls) await until('A node', () => answers(`${url}/_up`));
  await shareAdmin();
} catch {
  await end(1);
}

process.stdout
  .write(`Three nodes and three NATS servers run; data and logs are in ${folder}, and go when this ends (Ctrl-C).

    curl -X PUT ${login(0)}/db
    curl -X PUT ${login(1)}/db/doc -d '{"hello":"world"}'
    curl ${login(2)}/db/doc -H 'X-Tuffet-Reads: fresh'
    npx tuffet cluster status --url ${login(0)}

Kill a node, and go on with the others:

    kill -9 ${children[3]?.pid}
    curl -X PUT ${login(1)}/db/other -d '{}'

Admin pages: ${urls.map((url) => `${url}/_utils/`).join(', ')} (admin, ${password})
`);
for (const child of children)
  child.once('exit', () => {
    if (isEnding) return;
    process.stdout.write(`Process ${child.pid} has ended.\n`);
  });
