import { parseArgs } from 'node:util';
import { StartupError } from '../base/startup-error.js';

const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'none'] as const;

export interface CommandLine {
  /** Something to print in place of the command's work. */
  wants?: 'help' | 'version';
  port?: number;
  bind?: string;
  data?: string;
  admins: Record<string, string>;
  inMemory: boolean;
  config?: string;
  /** A number, or `auto`. */
  workers?: string;
  logLevel?: (typeof logLevels)[number];
  logFormat?: 'text' | 'json';
  cors: boolean;
  /** What `[cluster]` is given. */
  cluster: Record<string, string>;
  tls?: { certFile: string; keyFile: string; port?: number };
  /** Findings as JSON. */
  json: boolean;
}

export function parseCommandLine(
  command: 'serve' | 'doctor',
  args: string[],
  environment: NodeJS.ProcessEnv,
): CommandLine {
  const { values, positionals } = parse(args);
  const nothing = { admins: {}, inMemory: false, cors: false, cluster: {}, json: false };
  if (values.help) return { wants: 'help', ...nothing };
  if (values.version) return { wants: 'version', ...nothing };
  if (values['in-memory'] && command === 'doctor')
    throw wrongUse('doctor looks at a folder, not at --in-memory.');
  if (values.json && command !== 'doctor') throw wrongUse('--json is for doctor.');
  if (positionals.length > 0) throw wrongUse(unexpected(positionals));

  const from = (option: string | undefined, variable: string): string | undefined =>
    option ?? (environment[variable] || undefined);
  const line: CommandLine = {
    admins: adminsOf(values.admin ?? []),
    inMemory: values['in-memory'] ?? false,
    cors: values.cors ?? false,
    cluster: {
      ...(values.cluster !== undefined && { nats: values.cluster }),
      ...(values['node-name'] !== undefined && { node_name: values['node-name'] }),
      ...(values.advertise !== undefined && { advertise: values.advertise }),
      ...(values['allow-unsafe-log'] && { allow_unsafe_log: 'true' }),
    },
    json: values.json ?? false,
  };
  const port = from(values.port, 'TUFFET_PORT');
  const bind = from(values.bind, 'TUFFET_BIND');
  const data = from(values.data, 'TUFFET_DATA');
  const config = from(values.config, 'TUFFET_CONFIG');
  const workers = from(values.workers, 'TUFFET_WORKERS');
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
  if (workers !== undefined) line.workers = workersOf(workers);
  if (logLevel !== undefined) line.logLevel = oneOf('log level', logLevel, logLevels);
  if (logFormat !== undefined) line.logFormat = oneOf('log format', logFormat, ['text', 'json'] as const);
  return line;
}

/** The command comes first; an option may have been put before it. */
const unexpected = ([first]: string[]): string =>
  first === 'doctor'
    ? 'The command comes before its options: tuffet doctor …'
    : `Unexpected argument "${first}".`;

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
        workers: { type: 'string' },
        cors: { type: 'boolean' },
        cluster: { type: 'string' },
        'node-name': { type: 'string' },
        advertise: { type: 'string' },
        'allow-unsafe-log': { type: 'boolean' },
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

function workersOf(text: string): string {
  if (text !== 'auto' && !(/^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= 64))
    throw wrongUse(`"${text}" is not a number of workers: use 1 to 64, or auto.`);
  return text;
}

function oneOf<Choice extends string>(what: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) throw wrongUse(`"${text}" is not a ${what}: use ${choices.join(', ')}.`);
  return choice;
}

function wrongUse(message: string): StartupError {
  return new StartupError(`${message} See tuffet --help.`);
}
