import { parseArgs } from 'node:util';
import { StartupError } from '../base/startup-error.js';

export interface CommandLine {
  command: 'serve' | 'doctor' | 'help' | 'version';
  port?: number;
  bind?: string;
  data?: string;
  admins: Record<string, string>;
  inMemory: boolean;
  config?: string;
  logLevel?: string;
  logFormat?: 'text' | 'json';
  cors: boolean;
  tls?: { certFile: string; keyFile: string; port?: number };
  /** Findings as JSON. */
  json: boolean;
}

export const usage = `Usage: tuffet [serve] [options]
       tuffet doctor [--data DIR] [--config FILE] [--json]

  --admin NAME:PASSWORD    server admin; may be given several times
  --data DIR               where the data lies (default ./data)
  --in-memory              keep nothing on disk
  --port N                 port to listen on (default 5984; 0 takes a free one)
  --bind ADDRESS           address to listen on (default 127.0.0.1)
  --config FILE            ini file with further options
  --cors                   let pages of any origin use the server; for development only
  --tls-cert FILE          serve TLS too, with this certificate
  --tls-key FILE           and this private key
  --tls-port N             on this port (default 6984)
  --log-level LEVEL        debug, info, notice, warning, error, critical or none (default notice)
  --log-format text|json   how log lines are written (default text)
  --help                   this text
  --version                the version

doctor looks at the configuration and the data folder, changes nothing, and names what is wrong, unknown or dangerous, with
what to do about it. It may be asked while a server runs. Exit code: 0 when there is no problem, 1 when there is one.

Environment: TUFFET_USER and TUFFET_PASSWORD (or COUCHDB_USER and COUCHDB_PASSWORD) name a server admin; with _FILE
appended they name files that hold the values. TUFFET_DATA, TUFFET_PORT, TUFFET_BIND, TUFFET_CONFIG, TUFFET_LOG_LEVEL
and TUFFET_LOG_FORMAT stand for the options of the same name, TUFFET_SECRET (or COUCHDB_SECRET, or either with _FILE) for
[chttpd_auth] secret, and TUFFET__SECTION__KEY for any option of the configuration. An option wins over the environment.
`;

const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'none'];

export function parseCommandLine(args: string[], environment: NodeJS.ProcessEnv): CommandLine {
  const { values, positionals } = parse(args);
  const nothing = { admins: {}, inMemory: false, cors: false, json: false };
  if (values.help) return { command: 'help', ...nothing };
  if (values.version) return { command: 'version', ...nothing };
  const [command = 'serve', ...rest] = positionals;
  if (command !== 'serve' && command !== 'doctor') throw wrongUse(`There is no command "${command}".`);
  if (values['in-memory'] && command === 'doctor')
    throw wrongUse('doctor looks at a folder, not at --in-memory.');
  if (values.json && command !== 'doctor') throw wrongUse('--json is for doctor.');
  if (rest.length > 0) throw wrongUse(`Unexpected argument "${rest[0]}".`);

  const from = (option: string | undefined, variable: string): string | undefined =>
    option ?? (environment[variable] || undefined);
  const line: CommandLine = {
    command,
    admins: adminsOf(values.admin ?? []),
    inMemory: values['in-memory'] ?? false,
    cors: values.cors ?? false,
    json: values.json ?? false,
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
  const tls = tlsOf(values['tls-cert'], values['tls-key'], values['tls-port']);
  if (tls !== undefined) line.tls = tls;
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
        cors: { type: 'boolean' },
        'tls-cert': { type: 'string' },
        'tls-key': { type: 'string' },
        'tls-port': { type: 'string' },
        json: { type: 'boolean' },
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

function tlsOf(
  cert: string | undefined,
  key: string | undefined,
  port: string | undefined,
): CommandLine['tls'] {
  if (cert === undefined && key === undefined && port === undefined) return undefined;
  if (cert === undefined || key === undefined) throw wrongUse('TLS needs both --tls-cert and --tls-key.');
  return { certFile: cert, keyFile: key, ...(port === undefined ? {} : { port: portOf(port) }) };
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
