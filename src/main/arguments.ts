import { parseArgs } from 'node:util';
import { StartupError } from '../base/startup-error.js';

export interface CommandLine {
  command: 'serve' | 'help' | 'version';
  port?: number;
  bind?: string;
  data?: string;
  admins: Record<string, string>;
  inMemory: boolean;
  config?: string;
  logLevel?: string;
  logFormat?: 'text' | 'json';
}

export const usage = `Usage: tuffet [serve] [options]

  --admin NAME:PASSWORD    server admin; may be given several times
  --data DIR               where the data lies (default ./data)
  --in-memory              keep nothing on disk
  --port N                 port to listen on (default 5984; 0 takes a free one)
  --bind ADDRESS           address to listen on (default 127.0.0.1)
  --config FILE            ini file with further options
  --log-level LEVEL        debug, info, notice, warning, error, critical or none (default notice)
  --log-format text|json   how log lines are written (default text)
  --help                   this text
  --version                the version

Environment: TUFFET_USER and TUFFET_PASSWORD (or COUCHDB_USER and COUCHDB_PASSWORD) name a server admin; with _FILE
appended they name files that hold the values. TUFFET_DATA, TUFFET_PORT, TUFFET_BIND, TUFFET_CONFIG, TUFFET_LOG_LEVEL
and TUFFET_LOG_FORMAT stand for the options of the same name. An option wins over the environment.
`;

const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'none'];

export function parseCommandLine(args: string[], environment: NodeJS.ProcessEnv): CommandLine {
  const { values, positionals } = parse(args);
  if (values.help) return { command: 'help', admins: {}, inMemory: false };
  if (values.version) return { command: 'version', admins: {}, inMemory: false };
  const [command = 'serve', ...rest] = positionals;
  if (command !== 'serve') throw wrongUse(`There is no command "${command}".`);
  if (rest.length > 0) throw wrongUse(`Unexpected argument "${rest[0]}".`);

  const from = (option: string | undefined, variable: string): string | undefined =>
    option ?? (environment[variable] || undefined);
  const line: CommandLine = {
    command,
    admins: adminsOf(values.admin ?? []),
    inMemory: values['in-memory'] ?? false,
  };
  const port = from(values.port, 'TUFFET_PORT');
  const bind = from(values.bind, 'TUFFET_BIND');
  const data = from(values.data, 'TUFFET_DATA');
  const config = from(values.config, 'TUFFET_CONFIG');
  const logLevel = from(values['log-level'], 'TUFFET_LOG_LEVEL');
  const logFormat = from(values['log-format'], 'TUFFET_LOG_FORMAT');
  if (line.inMemory && values.data !== undefined)
    throw wrongUse('--data and --in-memory exclude each other.');
  if (port !== undefined) line.port = portOf(port);
  if (bind !== undefined) line.bind = bind;
  if (data !== undefined) line.data = data;
  if (config !== undefined) line.config = config;
  if (logLevel !== undefined) line.logLevel = oneOf('log level', logLevel, logLevels);
  if (logFormat !== undefined) line.logFormat = oneOf('log format', logFormat, ['text', 'json'] as const);
  return line;
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        port: { type: 'string' },
        bind: { type: 'string' },
        data: { type: 'string' },
        admin: { type: 'string', multiple: true },
        'in-memory': { type: 'boolean' },
        config: { type: 'string' },
        'log-level': { type: 'string' },
        'log-format': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
      },
    });
  } catch (error) {
    // Node's message goes on with advice on further lines and sentences; its first sentence says what is wrong.
    throw wrongUse((error as Error).message.split(/\. |\n/)[0]!.replace(/\.?$/, '.'));
  }
}

function adminsOf(pairs: string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const colon = pair.indexOf(':');
      // The text itself is not repeated: it may be the password.
      if (colon < 1 || colon === pair.length - 1) throw wrongUse('--admin must be NAME:PASSWORD.');
      return [pair.slice(0, colon), pair.slice(colon + 1)];
    }),
  );
}

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw wrongUse(`"${text}" is not a port.`);
  return Number(text);
}

function oneOf<Choice extends string>(what: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) throw wrongUse(`"${text}" is not a ${what}: use ${choices.join(', ')}.`);
  return choice;
}

function wrongUse(message: string): StartupError {
  return new StartupError(`${message} See tuffet --help.`);
}
