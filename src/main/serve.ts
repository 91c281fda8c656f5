import fs from 'node:fs';
import path from 'node:path';
import { hasAdmin, setAdmin } from '../auth/admins.js';
import { PasswordHasher } from '../auth/passwords.js';
import { collectWhenIdle } from '../base/idle-memory.js';
import { SystemRuntime } from '../base/runtime.js';
import { packageVersion } from '../base/version.js';
import { Config } from '../config/config.js';
import type { TuffetServer } from '../server/create-server.js';
import { configOptions, type ServerOptions } from '../server/server-options.js';
import { parseCommandLine } from './arguments.js';
import { defaultDataDir, serverOptions } from './command-options.js';
import { usage } from './usage.js';

const firstSteps = `Tuffet needs a server admin. This data folder is in use, and names none. Name one:

    npx tuffet --admin admin:PASSWORD        (in a clone: npm start -- --admin admin:PASSWORD)

or set TUFFET_USER and TUFFET_PASSWORD, or write a line "admin = PASSWORD" under [admins] in DATA/local.ini; the
server replaces the password in the file by its hash.
`;

const madeAdmin = 'admin';

/** Runs a server until a signal tells it to stop. */
export async function serve(args: string[]): Promise<number> {
  const line = parseCommandLine('serve', args, process.env);
  if (line.wants !== undefined) {
    process.stdout.write(line.wants === 'help' ? usage : `${packageVersion()}\n`);
    return 0;
  }
  const options = serverOptions(line, process.env);
  if (!knowsAnAdmin(options)) {
    if (isInUse(options)) {
      process.stderr.write(firstSteps.replace('DATA', options.dataDir ?? defaultDataDir));
      return 1;
    }
    await makeAdmin(options);
  }
  const stopping = stopRequested();
  collectWhenIdle(new SystemRuntime());
  // Most of the program is loaded here: a wrong command line is pointed out without it.
  const { createServer } = await import('../server/create-server.js');
  for (let isStopping = false; !isStopping;) {
    let recreate!: () => void;
    const recreating = new Promise<boolean>((resolve) => (recreate = () => resolve(false)));
    const server = await createServer({ ...options, onRecreate: recreate });
    process.stdout.write(announcement(server));
    isStopping = await Promise.race([stopping.then(() => true), recreating]);
    await server.close();
  }
  return 0;
}

/** Looks without touching anything: a start that is refused leaves no folder behind. */
function knowsAnAdmin(options: ServerOptions): boolean {
  return hasAdmin(new Config(configOptions(options)));
}

/** Whether a server has used the data folder before, with an admin that only its command line named. */
const isInUse = ({ dataDir }: ServerOptions): boolean =>
  dataDir !== undefined && fs.existsSync(path.join(dataDir, 'tuffet.json'));

/** The first start on a new folder: the password is shown once, and kept as a hash in the data folder. */
async function makeAdmin(options: ServerOptions): Promise<void> {
  const runtime = new SystemRuntime();
  const password = runtime.randomBytes(12).toString('base64url');
  if (options.dataDir === undefined) options.admins = { [madeAdmin]: password };
  else {
    fs.mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
    await setAdmin(new Config(configOptions(options)), new PasswordHasher(runtime), madeAdmin, password);
  }
  process.stdout.write(`No server admin is known, so one is made: name ${madeAdmin}, password ${password}
`);
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
