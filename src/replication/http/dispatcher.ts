import fs from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { Pool, ProxyAgent, Socks5ProxyAgent, type Dispatcher } from 'undici';
import type { Config } from '../../config/config.js';
import { PeerFailure } from '../peer.js';

export interface DispatcherOptions {
  origin: string;
  proxy: string | undefined;
  connections: number;
  timeoutMs: number;
  tls: TlsOptions;
}

export type TlsOptions = Pick<ConnectionOptions, 'rejectUnauthorized' | 'ca' | 'cert' | 'key' | 'passphrase'>;

/** How servers behind TLS are known, and how this one makes itself known to them. */
export function readTls(config: Config): TlsOptions {
  const read = (name: Parameters<Config['text']>[0]): Buffer | undefined => {
    const file = config.text(name);
    if (file === '') return undefined;
    try {
      return fs.readFileSync(file);
    } catch {
      throw new PeerFailure(`The file of the option ${name} can't be read.`);
    }
  };
  const ca = read('replicator/ssl_trusted_certificates_file');
  const cert = read('replicator/cert_file');
  const key = read('replicator/key_file');
  const passphrase = config.text('replicator/password');
  return {
    rejectUnauthorized: config.boolean('replicator/verify_ssl_certificates'),
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(passphrase === '' ? {} : { passphrase }),
  };
}

/** Connections to one server, through a proxy where there is one. */
export function makeDispatcher({
  origin,
  proxy,
  connections,
  timeoutMs,
  tls,
}: DispatcherOptions): Dispatcher {
  const connect = { ...tls, timeout: timeoutMs };
  if (proxy === undefined) return new Pool(origin, { connections, connect });
  const uri = new URL(proxy);
  const [name, password] = [decodeURIComponent(uri.username), decodeURIComponent(uri.password)];
  if (uri.protocol === 'socks5:') {
    // The option is missing from its types, though it is supported.
    const options = { requestTls: tls, connections } as object;
    return new Socks5ProxyAgent(uri, options);
  }
  uri.username = uri.password = '';
  return new ProxyAgent({
    uri: uri.href,
    ...(name === '' ? {} : { token: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` }),
    requestTls: connect,
    proxyTls: connect,
    connections,
    clientFactory: (origin, options) => new Tunnels(origin, { ...options, headersTimeout: timeoutMs }),
    // Plain requests go through a proxy as such: many let nothing but TLS through a tunnel.
    proxyTunnel: false,
  });
}

/**
 * Connections to a proxy, on which tunnels are asked for. Where a proxy closes them, the library would ask again at once and without
 * end: it does so for errors of sockets, and this is made another one.
 */
class Tunnels extends Pool {
  override connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData>;
  override connect(
    options: Dispatcher.ConnectOptions,
    callback: (error: Error | null, data: Dispatcher.ConnectData) => void,
  ): void;
  override connect(
    options: Dispatcher.ConnectOptions,
    callback?: (error: Error | null, data: Dispatcher.ConnectData) => void,
  ): Promise<Dispatcher.ConnectData> | void {
    if (callback !== undefined) return super.connect(options, callback);
    return super.connect(options).catch((cause: unknown) => {
      throw new Error('the proxy opened no tunnel', { cause });
    });
  }
}
