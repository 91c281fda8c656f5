#!/usr/bin/env node
import { hasAdmin } from '../auth/admins.js';
import { StartupError } from '../base/startup-error.js';
import { packageVersion } from '../base/version.js';
import { Config } from '../config/config.js';
import {
  configOptions,
  createServer,
  type ServerOptions,
  type TuffetServer,
} from '../server/create-server.js';
import { parseCommandLine, usage, type CommandLine } from './arguments.js';
import { examine, report } from './doctor/doctor.js';
import { environmentAdmin } from './environment-admin.js';
import { environmentConfig } from './environment-config.js';

const defaultDataDir = './data';

const firstSteps = `Tuffet needs a server admin, and none is known yet. Name one:

    npm start -- --admin admin:PASSWORD        (or: npx tuffet --admin admin:PASSWORD)

or set TUFFET_USER and TUFFET_PASSWORD, or write a line "admin = PASSWORD" under [admins] in DATA/local.ini; the
server replaces the password in the file by its hash.
`;

async function main(): Promise<void> {
  // Standard output may be a file on a disk that is full.
  process.stdout.on('error', () => undefined);
  const line = parseCommandLine(process.argv.slice(2), process.env);
  if (line.command === 'help') return void process.stdout.write(usage);
  if (line.command === 'version') return void process.stdout.write(`${packageVersion()}\n`);
  const options = serverOptions(line);
  if (line.command === 'doctor') return doctor(options, line.json);
  if (!knowsAnAdmin(options)) {
    process.stderr.write(firstSteps.replace('DATA', options.dataDir ?? defaultDataDir));
    process.exitCode = 1;
    return;
  }
  await serve(options);
}

function serverOptions(line: CommandLine): ServerOptions {
  const options: ServerOptions = {
    admins: { ...environmentAdmin(process.env), ...line.admins },
    config: environmentConfig(process.env),
  };
  if (line.inMemory) options.inMemory = true;
  else options.dataDir = line.data ?? defaultDataDir;
  if (line.port !== undefined) options.port = line.port;
  if (line.bind !== undefined) options.bind = line.bind;
  if (line.config !== undefined) options.configFile = line.config;
  if (line.logLevel !== undefined) options.logLevel = line.logLevel;
  if (line.logFormat !== undefined) options.logFormat = line.logFormat;
  if (line.cors) options.cors = true;
  if (line.tls !== undefined) options.tls = line.tls;
  return options;
}

function doctor({ dataDir = defaultDataDir, ...options }: ServerOptions, json: boolean): void {
  const findings = examine({ ...configOptions(options), dataDir });
  const ok = !findings.some(({ level }) => level === 'problem');
  process.stdout.write(json ? `${JSON.stringify({ ok, findings }, null, 2)}\n` : report(findings));
  process.exitCode = ok ? 0 : 1;
}

/** Looks without touching anything: a first run that is refused leaves no folder behind. */
function knowsAnAdmin(options: ServerOptions): boolean {
  return hasAdmin(new Config(configOptions(options)));
}

async function serve(options: ServerOptions): Promise<void> {
  const stopping = stopRequested();
  const server = await createServer(options);
  process.stdout.write(announcement(server));
  await stopping;
  await server.close();
}

function announcement({ url, tlsUrl, dataDir }: TuffetServer): string {
  const address = url.replace(/\/$/, '');
  const secure = tlsUrl === undefined ? '' : ` and ${tlsUrl}/`;
  return `Tuffet ${packageVersion()} listens on ${address}/${secure}
Admin page: ${address}/_utils/
Data: ${dataDir ?? 'in memory, gone when the server stops'}
`;
}

/** Resolves at the first signal to stop. A second one means that its sender won't wait for the requests under way. */
function stopRequested(): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (exitCode: number) => () => {
      if (stopping) process.exit(exitCode);
      stopping = true;
      resolve();
    };
    process.on('SIGINT', stop(130));
    process.on('SIGTERM', stop(143));
  });
}

main().catch((error: unknown) => {
  const text =
    error instanceof StartupError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
  // Whatever a start that broke off has left open must not keep the process alive.
  process.exit(1);
});
