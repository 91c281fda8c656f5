import { pino } from 'pino';
import { SystemRuntime, type Runtime } from './runtime.js';
import { readableHead, type LogWriter, type Severity } from './log-writer.js';

/** CouchDB's names of the levels, as pino calls them. */
const pinoLevels: Readonly<Record<string, string>> = {
  debug: 'debug',
  info: 'info',
  notice: 'notice',
  warning: 'warn',
  warn: 'warn',
  error: 'error',
  err: 'error',
  critical: 'fatal',
  crit: 'fatal',
  alert: 'fatal',
  emergency: 'fatal',
  emerg: 'fatal',
  none: 'silent',
};

/** Messages with facts beside them. Facts must never hold a password, a cookie or an `Authorization` header. */
export interface Logger {
  trace(facts: object, message: string): void;
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  /** Between info and warn: what an operator wants to know also when nothing is wrong. */
  notice(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  /** Whether requests are logged: asked on the way of every answer. */
  readonly logsRequests: boolean;
  /** One line for one request, as cheap as a line can be. */
  request(facts: RequestFacts): void;
  /** Whether a message of this level would be written: ask before facts that are costly to gather. */
  isLevelEnabled(level: string): boolean;
  /** Takes CouchDB's level names. */
  setLevel(level: string): void;
  /** How many messages were written, by CouchDB's level names; absent where it is not counted. */
  readonly counts?: ReadonlyMap<string, number>;
}

/** What is logged of a request: no query, no header, no body. */
export interface RequestFacts {
  id: string;
  method: string;
  path: string;
  status: number;
  user: string | null;
  ms: number;
  /** Whether the answer was sent to its end. */
  complete: boolean;
}

export interface LoggerOptions {
  level?: string;
  format?: 'text' | 'json';
  /** Takes whole lines; standard error unless given. */
  destination?: { write(line: string): void } & Partial<LogWriter>;
  runtime?: Runtime;
}

/** A logger whose writes never wait: see `log-writer.ts`. */
export function createLogger({
  level = 'notice',
  format = 'text',
  destination = { write: (line) => void process.stderr.write(line) },
  runtime = new SystemRuntime(),
}: LoggerOptions = {}): Logger {
  const lines = new LineWriter(destination, format);
  const isoNow = isoClock(runtime);
  const log = pino(
    {
      level: pinoLevel(level),
      customLevels: { notice: 35 },
      base: null,
      timestamp: () => `,"time":"${isoNow()}"`,
    },
    { write: (line: string) => lines.write(line) },
  );
  const counts = new Map(['debug', 'info', 'notice', 'warning', 'error'].map((name) => [name, 0]));
  const counted =
    (name: string, write: (facts: object, message: string) => void) =>
    (facts: object, message: string): void => {
      if (log.isLevelEnabled(pinoLevel(name))) counts.set(name, counts.get(name)! + 1);
      write(facts, message);
    };
  // Asked for each request: pino finds its level by a search.
  let logsRequests = log.isLevelEnabled('info');
  return {
    get logsRequests() {
      return logsRequests;
    },
    request: (facts) => {
      if (!log.isLevelEnabled('info')) return;
      counts.set('info', counts.get('info')! + 1);
      if (format !== 'json') return lines.writeText(info, isoNow(), requestText(facts));
      const { complete, ...others } = facts;
      log.info(others, complete ? 'request' : 'request broken off');
    },
    trace: (facts, message) => log.trace(facts, message),
    debug: counted('debug', (facts, message) => log.debug(facts, message)),
    info: counted('info', (facts, message) => log.info(facts, message)),
    notice: counted('notice', (facts, message) => log.notice(facts, message)),
    warn: counted('warning', (facts, message) => log.warn(facts, message)),
    error: counted('error', (facts, message) => log.error(facts, message)),
    counts,
    isLevelEnabled: (name) => log.isLevelEnabled(pinoLevel(name)),
    setLevel: (name) => {
      log.level = pinoLevel(name);
      logsRequests = log.isLevelEnabled('info');
    },
  };
}

const info: Severity = { name: 'INFO', code: 6 };

/** By pino's numbers. */
const severities: Readonly<Record<number, Severity>> = {
  10: { name: 'TRACE', code: 7 },
  20: { name: 'DEBUG', code: 7 },
  30: info,
  35: { name: 'NOTICE', code: 5 },
  40: { name: 'WARN', code: 4 },
  50: { name: 'ERROR', code: 3 },
  60: { name: 'FATAL', code: 2 },
};

/** Makes lines of pino's, which are JSON, and hands them to the writer. */
class LineWriter {
  readonly #head: LogWriter['head'];

  constructor(
    private readonly destination: NonNullable<LoggerOptions['destination']>,
    private readonly format: 'text' | 'json',
  ) {
    this.#head = destination.head ?? readableHead;
  }

  write(line: string): void {
    const { destination } = this;
    if (this.format === 'json' && !destination.headsJson) return destination.write(line);
    const { time, level, ...rest } = JSON.parse(line) as Record<string, unknown>;
    const severity = severities[Number(level)] ?? info;
    if (this.format === 'json') destination.write(this.#head(severity, String(time)) + line);
    else this.writeText(severity, String(time), readable(rest));
  }

  writeText(severity: Severity, time: string, text: string): void {
    const head = this.#head(severity, time);
    this.destination.write(
      `${head}${this.destination.headsLines ? text.replaceAll('\n', `\n${head}`) : text}\n`,
    );
  }
}

/** What `readable` would make of a request, without the detour through JSON. */
function requestText({ id, method, path, status, user, ms, complete }: RequestFacts): string {
  const who = user === null ? 'null' : readableValue(user);
  const text = complete ? 'request' : 'request broken off';
  return `${text} id=${id} method=${method} path=${readableValue(path)} status=${status} user=${who} ms=${ms}`;
}

/** Gives the time as ISO 8601; the part down to the second is made once a second. */
function isoClock(runtime: Runtime): () => string {
  let atSecond = 0;
  let prefix = '';
  return () => {
    const now = runtime.now();
    const second = Math.floor(now / 1000);
    if (second !== atSecond) {
      atSecond = second;
      prefix = new Date(second * 1000).toISOString().slice(0, 20);
    }
    const ms = now - second * 1000;
    return `${prefix}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
  };
}

function pinoLevel(name: string): string {
  return pinoLevels[name] ?? (name in pino.levels.values ? name : 'notice');
}

/** `message key=value …`, and the stack of an error below it. */
function readable({ msg, err, ...facts }: Record<string, unknown>): string {
  const pairs = Object.entries(facts).map(([key, value]) => ` ${key}=${readableValue(value)}`);
  const head = `${oneLine(String(msg ?? ''))}${pairs.join('')}`;
  const { stack, message } = (err ?? {}) as { stack?: unknown; message?: unknown };
  const trace = stack ?? message;
  return trace === undefined ? head : `${head}\n${String(trace).replace(/^/gm, '    ')}`;
}

function readableValue(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=\u0000-\u001f\u007f]+$/.test(value)
    ? value
    : JSON.stringify(value);
}

/** Line breaks in a message would let a request forge lines of the log. */
function oneLine(message: string): string {
  return message.replace(/[\u0000-\u001f\u007f]/g, (character) => JSON.stringify(character).slice(1, -1));
}
