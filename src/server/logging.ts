import path from 'node:path';
import { openLogWriter } from '../base/log-writer.js';
import { createLogger, type Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import type { Config } from '../config/config.js';
import type { DataFolder } from '../node/data-folder.js';

/** A logger, and how to end it where it is the server's own. */
export interface Log {
  logger: Logger;
  close?: () => void | Promise<void>;
}

/** The log as `[log]` says. */
export function openLog(config: Config, folder: DataFolder | undefined, runtime: Runtime): Log {
  const file = config.text('log/file');
  const destination = openLogWriter(runtime, {
    kind: config.choice('log/writer'),
    file: file === '' ? (folder?.path('tuffet.log') ?? 'tuffet.log') : path.resolve(file),
    syslog: {
      host: config.text('log/syslog_host'),
      port: config.number('log/syslog_port'),
      appId: config.text('log/syslog_appid') || '-',
      facility: config.choice('log/syslog_facility'),
    },
  });
  const logger = createLogger({
    level: config.choice('log/level'),
    format: config.choice('log/format'),
    destination,
    runtime,
  });
  return { logger, close: () => destination.close() };
}
