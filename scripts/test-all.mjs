// npm run test:all: every test in every configuration, one after the other; a line of figures for each at the end.
//
//   plain      npm test
//   kills      servers that are killed and crashes that are simulated, three times as often as in npm test
//   encoded    every command encoded and decoded before it is applied, as between machines; replications with every
//              senseless answer, of which npm test draws a third
//   groups     databases of three groups, or of as many as they have shards
//   workers    two processes for each server, and another connection for each request of the golden scenarios
//   cluster    three nodes on a NATS server (*.cluster.test.ts), which is installed where that is possible
//   browser    the admin page in a real browser (*.browser.test.ts)
//   node22 …   behaviour on the other supported versions of Node.js, from npm's `node` package
//
// `npm run test:all -- plain node24` runs the named ones, `npm run test:all -- --except plain` the others.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureBuilt, root } from './ensure-built.mjs';
import { ensureChromium } from './ensure-chromium.mjs';
import { ensureNats } from './ensure-nats.mjs';

/** What clients see, without what takes long or does not depend on the configuration. */
const behaviour = ['test/spec', 'test/golden', 'test/http', 'test/design', 'test/views', 'test/attachments'];

/** What depends on Node.js most. */
const connections = ['test/tls', 'src/http'];

/** What versions of Node.js between the oldest and the newest are tested with. */
const interfaceOnly = ['test/spec', 'test/golden', 'test/http', ...connections];

/** What else writes. */
const writing = ['test/auth', 'test/crash', 'test/feeds', 'test/model', 'test/query', 'test/replication'];

/** How much of a failed run is repeated at the end: scripts/test.mjs ends with what failed. */
const endLength = 6_000;

const withoutNats = 'there is no nats-server; on Debian: apt-get install nats-server';

const configurations = [
  { name: 'plain', args: [] },
  { name: 'kills', args: ['test/crash', 'test/simulation/simulation.test'], env: { TUFFET_ALL_KILLS: '1' } },
  {
    name: 'encoded',
    args: [...behaviour, ...writing],
    env: { TUFFET_ENCODED_COMMANDS: '1', TUFFET_ALL_ANSWERS: '1' },
  },
  { name: 'groups', args: [...behaviour, ...writing], env: { TUFFET_GROUPS: '3' } },
  {
    name: 'workers',
    args: ['test/golden', 'test/auth', 'test/feeds/web-socket'],
    env: { TUFFET_WORKERS: '2' },
  },
  { name: 'cluster', args: ['--cluster'], isMissing: () => !ensureNats() && withoutNats },
  { name: 'browser', args: ['--browser'] },
  ...['22', '24'].map((version) => ({ name: `node${version}`, args: interfaceOnly, version })),
  { name: 'node26', args: [...behaviour, ...connections], version: '26' },
];

const [first, ...rest] = process.argv.slice(2);
const isWanted = (name) =>
  first === '--except' ? !rest.includes(name) : first === undefined || [first, ...rest].includes(name);

process.chdir(root);
await ensureBuilt();
ensureChromium();
const lines = [];
const failures = [];
for (const { name, args, env, version, isMissing } of configurations) {
  if (!isWanted(name)) continue;
  const missing = isMissing?.();
  if (missing) {
    lines.push(`${name}: not run, ${missing}`);
    continue;
  }
  const folder = version === undefined ? undefined : nodeFolder(version);
  if (folder === null) {
    lines.push(`${name}: not run, npm has no such version for this machine`);
    continue;
  }
  process.stdout.write(`\n── ${name}\n`);
  const search = folder === undefined ? {} : { PATH: `${folder}${path.delimiter}${process.env.PATH}` };
  const command = folder === undefined ? process.execPath : path.join(folder, 'node');
  const { status, stdout } = spawnSync(command, ['scripts/test.mjs', '--rerun', ...args], {
    env: { ...process.env, ...env, ...search },
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1024 ** 3,
    encoding: 'utf8',
  });
  process.stdout.write(stdout);
  lines.push(`${name}: ${stdout.trimEnd().split('\n').at(-1)}`);
  if (status !== 0) failures.push(`── ${name}, failed`, stdout.trimEnd().slice(-endLength));
}
// Where a log is cut, its end is what remains.
process.stdout.write(`\n${[...failures, ...lines].join('\n')}\n`);
process.exitCode = failures.length > 0 ? 1 : 0;

/** The folder of a version's program, installed when missing; null where that fails. */
function nodeFolder(version) {
  const prefix = path.join(os.tmpdir(), 'tuffet-node-versions', version);
  const folder = path.join(prefix, 'node_modules', 'node', 'bin');
  if (!fs.existsSync(path.join(folder, 'node'))) {
    fs.mkdirSync(prefix, { recursive: true });
    const options = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--foreground-scripts'];
    spawnSync('npm', ['install', '--prefix', prefix, ...options, `node@${version}`], {
      stdio: ['ignore', 2, 2],
    });
  }
  return fs.existsSync(path.join(folder, 'node')) ? folder : null;
}
