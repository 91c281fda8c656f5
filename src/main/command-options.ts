import type { ServerOptions } from '../server/server-options.js';
import type { CommandLine } from './arguments.js';
import { environmentAdmin } from './environment-admin.js';
import { environmentConfig } from './environment-config.js';

export const defaultDataDir = './data';

/** What the command line and the environment say together. */
export function serverOptions(line: CommandLine, environment: NodeJS.ProcessEnv): ServerOptions {
  const options: ServerOptions = {
    admins: { ...environmentAdmin(environment), ...line.admins },
    config: environmentConfig(environment),
  };
  if (Object.keys(line.cluster).length > 0)
    options.config!['cluster'] = { ...options.config!['cluster'], ...line.cluster };
  if (line.inMemory) options.inMemory = true;
  else options.dataDir = line.data ?? defaultDataDir;
  if (line.port !== undefined) options.port = line.port;
  if (line.bind !== undefined) options.bind = line.bind;
  if (line.config !== undefined) options.configFile = line.config;
  if (line.logLevel !== undefined) options.logLevel = line.logLevel;
  if (line.logFormat !== undefined) options.logFormat = line.logFormat;
  if (line.cors) options.cors = true;
  if (line.workers !== undefined) options.workers = line.workers;
  if (line.tls !== undefined) options.tls = line.tls;
  return options;
}
