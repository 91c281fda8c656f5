import dgram from 'node:dgram';
import fs from 'node:fs';
import os from 'node:os';
import { LogOutput } from './log-output.js';
import type { Runtime } from './runtime.js';
import { StartupError } from './startup-error.js';

/** Facilities of syslog, in the order of their numbers. */
export const facilities = [
  'kern',
  'user',
  'mail',
  'daemon',
  'auth',
  'syslog',
  'lpr',
  'news',
  'uucp',
  'clock',
  'authpriv',
  'ftp',
  'ntp',
  'audit',
  'alert',
  'cron',
  'local0',
  'local1',
  'local2',
  'local3',
  'local4',
  'local5',
  'local6',
  'local7',
] as const;

/** Where lines of a log go, and what stands before each. */
export interface LogWriter {
  /** Takes one message with the line break at its end. Never waits and never throws. */
  write(message: string): void;
  /** What stands before a message: its time and severity, as the receiver wants them. */
  head(severity: Severity, time: string): string;
  /** Whether lines of JSON, which name time and severity themselves, have that before them too. */
  headsJson: boolean;
  /** Whether each line of a message stands for itself, and so needs the head. */
  headsLines?: boolean;
  /** Writes what still waits, as far as that is possible. */
  close(): void | Promise<void>;
}

/** A severity of syslog, and its name in text. */
export interface Severity {
  name: string;
  code: number;
}

export interface LogWriterOptions {
  kind: 'stderr' | 'file' | 'syslog' | 'journald';
  /** For `file`. */
  file: string;
  /** For `syslog`; without a host the same lines go to standard error. */
  syslog: { host: string; port: number; appId: string; facility: (typeof facilities)[number] };
}

export function openLogWriter(runtime: Runtime, options: LogWriterOptions): LogWriter {
  switch (options.kind) {
    case 'stderr':
      return { ...standardError(runtime), head: readableHead, headsJson: false };
    case 'journald':
      return {
        ...standardError(runtime),
        head: ({ code }) => `<${code}>`,
        headsJson: true,
        headsLines: true,
      };
    case 'file':
      return { ...logFile(runtime, options.file), head: readableHead, headsJson: false };
    case 'syslog':
      return syslogWriter(runtime, options.syslog);
  }
}

export const readableHead = ({ name }: Severity, time: string): string => `${time} ${name.padEnd(6)} `;

type Output = Pick<LogWriter, 'write' | 'close'>;

const flushMs = 100;

/** Lines are written together: at once when there are many, and otherwise after a moment. */
function standardError(runtime: Runtime): Output {
  const output = new LogOutput(2);
  const flushing = runtime.setIdleRepeating(() => output.flush(), flushMs);
  return {
    write: (line) => output.write(line),
    close: () => {
      flushing.cancel();
      return writeRest(output, runtime);
    },
  };
}

/** How long the last lines may take. */
const lastLinesMs = 1_000;

/** Writes what waits, and ends the output. If nothing reads the pipe, this may take for ever. */
async function writeRest(output: LogOutput, runtime: Runtime): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = runtime.setTimer(resolve, lastLinesMs);
    void output.written().then(() => {
      timer.cancel();
      resolve();
    });
  });
  output.close();
}

const reopenMs = 2_000;

/** A file that may be moved away by logrotate: then a new one of the same name is begun. */
function logFile(runtime: Runtime, file: string): Output {
  let descriptor: number;
  try {
    descriptor = openLog(file);
  } catch (error) {
    throw new StartupError(`The log file ${file} can't be written: ${(error as Error).message}`);
  }
  let { ino } = fs.fstatSync(descriptor);
  const output = new LogOutput(descriptor);
  const flushing = runtime.setIdleRepeating(() => output.flush(), flushMs);
  const watching = runtime.setIdleRepeating(() => {
    if (fs.statSync(file, { throwIfNoEntry: false })?.ino === ino) return;
    // Where it can't be made, lines go on to the old file, and it is tried again.
    tryTo(() => {
      const other = openLog(file);
      ino = fs.fstatSync(other).ino;
      output.changeTo(other);
    });
  }, reopenMs);
  return {
    write: (line) => output.write(line),
    close: async () => {
      flushing.cancel();
      watching.cancel();
      await writeRest(output, runtime);
    },
  };
}

/** Others than its owner don't need to know who asked for what. */
const openLog = (file: string): number => fs.openSync(file, 'a', 0o640);

/** Messages that wait for the address of the host; further ones are dropped. */
const waitingMax = 1_000;

function syslogWriter(
  runtime: Runtime,
  { host, port, appId, facility }: LogWriterOptions['syslog'],
): LogWriter {
  const base = facilities.indexOf(facility) * 8;
  const origin = `${os.hostname() || '-'} ${appId} ${process.pid} - -`;
  return {
    ...(host === '' ? standardError(runtime) : datagrams(host, port)),
    head: ({ code }, time) => `<${base + code}>1 ${time} ${origin} `,
    headsJson: true,
  };
}

/** The longest message that is sent: larger ones would not fit into a datagram. */
const datagramBytesMax = 8_192;

function datagrams(host: string, port: number): Output {
  const waiting: string[] = [];
  let isConnected = false;
  const socket = dgram.createSocket(host.includes(':') ? 'udp6' : 'udp4').unref();
  // A missing receiver must not affect the server.
  socket.on('error', () => undefined);
  const send = (line: string): void =>
    tryTo(() => socket.send(Buffer.from(line.trimEnd()).subarray(0, datagramBytesMax)));
  tryTo(() =>
    socket.connect(port, host, () => {
      isConnected = true;
      for (const line of waiting.splice(0)) send(line);
    }),
  );
  return {
    write: (line) => {
      if (isConnected) send(line);
      else if (waiting.length < waitingMax) waiting.push(line);
    },
    close: () => tryTo(() => socket.close()),
  };
}

function tryTo(action: () => void): void {
  try {
    action();
  } catch {
    // The log has nowhere to report that it can't be written.
  }
}
