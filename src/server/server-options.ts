import type { Logger } from '../base/logger.js';
import type { ConfigOptions } from '../config/config.js';

export interface ServerOptions {
  /** The data folder; created if it does not exist. Either this or `inMemory`. */
  dataDir?: string;
  /** Keeps everything in memory and forgets it on close. */
  inMemory?: boolean;
  /** Server admins: names and passwords, or hashes of them. */
  admins?: Record<string, string>;
  /** 0 takes a free one. */
  port?: number;
  bind?: string;
  /** Lets pages of these origins use the server, with logins; `true` means any page, which is for development only. */
  cors?: boolean | string | readonly string[];
  /** Serves TLS too, with these PEM files, on port 6984 unless another is named; 0 takes a free one. */
  tls?: { certFile: string; keyFile: string; port?: number };
  /** Processes that serve connections, or `auto`; 1 unless told otherwise. */
  workers?: number | string;
  /** Options by section and key, over whatever files say. */
  config?: Record<string, Record<string, string>>;
  /** An ini file to read. */
  configFile?: string;
  logger?: Logger;
  /** Called when the server has got settings with which it has to be closed and created again, to be a node of a cluster. */
  onRecreate?: () => void;
  logLevel?: 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'none';
  logFormat?: 'text' | 'json';
}

/** What an embedding program or the command line says, as the last of the sources that options come from. */
export function configOptions({
  inMemory,
  dataDir,
  configFile,
  admins,
  port,
  bind,
  cors,
  tls,
  workers,
  config = {},
  logLevel,
  logFormat,
}: ServerOptions): ConfigOptions {
  const section = (name: string, values: Record<string, string | undefined>): Record<string, string> => ({
    ...config[name],
    ...(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >),
  });
  return {
    ...(inMemory || dataDir === undefined ? {} : { dataDir }),
    ...(configFile === undefined ? {} : { configFile }),
    overrides: {
      ...config,
      admins: section('admins', admins ?? {}),
      chttpd: section('chttpd', {
        port: port?.toString(),
        bind_address: bind,
        enable_cors: cors === undefined ? undefined : String(cors !== false),
      }),
      cors: section('cors', corsOptions(cors)),
      ssl: section('ssl', tlsOptions(tls)),
      tuffet: section('tuffet', { workers: workers?.toString() }),
      log: section('log', { level: logLevel, format: logFormat }),
    },
  };
}

/** Clients in browsers, PouchDB among them, send logins with every request, so they get leave to. */
function corsOptions(cors: ServerOptions['cors'] = false): Record<string, string> {
  if (cors === false) return {};
  const origins = cors === true ? '*' : [cors].flat().join(', ');
  return { origins, credentials: 'true' };
}

function tlsOptions(tls: ServerOptions['tls']): Record<string, string | undefined> {
  if (tls === undefined) return {};
  return { enable: 'true', cert_file: tls.certFile, key_file: tls.keyFile, port: tls.port?.toString() };
}
