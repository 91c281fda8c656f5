import { pino, type DestinationStream } from 'pino';

/** CouchDB's names of the levels, as pino calls them. */
const pinoLevels: Readonly<Record<string, string>> = {
  debug: 'debug',
  info: 'info',
  notice: 'notice',
  warning: 'warn',
  error: 'error',
  critical: 'fatal',
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
  destination?: DestinationStream;
}

/**
 * A logger whose writes never wait: lines are buffered and written in the background, and what is left is written when
 * the process exits.
 */
export function createLogger({ level = 'notice', format = 'text', destination }: LoggerOptions = {}): Logger {
  const output = destination ?? bufferedStandardError();
  const stream = format === 'json' ? output : { write: (line: string) => output.write(readable(line)) };
  const log = pino(
    {
      level: pinoLevel(level),
      customLevels: { notice: 35 },
      base: null,
      timestamp: () => `,"time":"${isoNow()}"`,
    },
    stream,
  );
  return {
    get logsRequests() {
      return log.levelVal <= pino.levels.values['info']!;
    },
    request:
      format === 'json'
        ? ({ complete, ...facts }) => log.info(facts, complete ? 'request' : 'request broken off')
        : (facts) => void (log.isLevelEnabled('info') && output.write(requestLine(facts))),
    trace: (facts, message) => log.trace(facts, message),
    debug: (facts, message) => log.debug(facts, message),
    info: (facts, message) => log.info(facts, message),
    notice: (facts, message) => log.notice(facts, message),
    warn: (facts, message) => log.warn(facts, message),
    error: (facts, message) => log.error(facts, message),
    isLevelEnabled: (name) => log.isLevelEnabled(pinoLevel(name)),
    setLevel: (name) => {
      log.level = pinoLevel(name);
    },
  };
}

/** The line that `readable` would make of a request, without the detour through JSON. */
function requestLine({ id, method, path, status, user, ms, complete }: RequestFacts): string {
  const who = user === null ? 'null' : readableValue(user);
  const text = complete ? 'request' : 'request broken off';
  return `${isoNow()} INFO   ${text} id=${id} method=${method} path=${readableValue(path)} status=${status} user=${who} ms=${ms}\n`;
}

let isoSecond = 0;
let isoPrefix = '';

/** The time as ISO 8601; the part down to the second is made once a second. */
function isoNow(): string {
  const now = Date.now();
  const second = Math.floor(now / 1000);
  if (second !== isoSecond) {
    isoSecond = second;
    isoPrefix = new Date(second * 1000).toISOString().slice(0, 20);
  }
  const ms = now - second * 1000;
  return `${isoPrefix}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
}

/** Lines are written together: at once when there are many, and otherwise after a moment. */
function bufferedStandardError(): DestinationStream {
  const output = pino.destination({ fd: 2, sync: false, minLength: 8 * 1024, maxLength: waitingBytesMax });
  // Where lines cannot be written, because the disk is full perhaps, they wait, and then are dropped.
  output.on('error', () => undefined);
  setInterval(() => output.flush(), flushMs).unref();
  return output;
}

const flushMs = 100;
const waitingBytesMax = 4 * 1024 * 1024;

function pinoLevel(name: string): string {
  return pinoLevels[name] ?? (name in pino.levels.values ? name : 'notice');
}

/** `2026-01-01T00:00:00.000Z INFO  message key=value …` out of one of pino's JSON lines. */
function readable(line: string): string {
  const { time, level, msg, err, ...facts } = JSON.parse(line) as Record<string, unknown>;
  const name = (Number(level) === 35 ? 'notice' : (pino.levels.labels[Number(level)] ?? 'info'))
    .toUpperCase()
    .padEnd(6);
  const pairs = Object.entries(facts).map(([key, value]) => ` ${key}=${readableValue(value)}`);
  const head = `${String(time)} ${name} ${oneLine(String(msg ?? ''))}${pairs.join('')}`;
  const { stack, message } = (err ?? {}) as { stack?: unknown; message?: unknown };
  const trace = stack ?? message;
  return trace === undefined ? `${head}\n` : `${head}\n${String(trace).replace(/^/gm, '    ')}\n`;
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
