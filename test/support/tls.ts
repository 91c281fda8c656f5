import fs from 'node:fs';
import path from 'node:path';
import { after } from 'node:test';
import { createServer, type TuffetServer } from '../../src/server/create-server.js';

const folder = path.resolve(import.meta.dirname, '../../../test/fixtures/tls');

/** The path of a certificate or key, made for the tests and valid until 2120. */
export const pemFile = (name: string): string => path.join(folder, `${name}.pem`);

export const pem = (name: string): Buffer => fs.readFileSync(pemFile(name));

/** A server in memory that speaks TLS too, with the options of `[ssl]` that are given. */
export async function startTlsServer(
  ssl: Record<string, string> = {},
  tuffet: Record<string, string> = {},
): Promise<TuffetServer & { tlsUrl: string; tlsPort: number }> {
  const server = await createServer({
    inMemory: true,
    admins: { admin: 'secret' },
    port: 0,
    logLevel: 'none',
    config: {
      chttpd_auth: { iterations: '100' },
      tuffet,
      ssl: {
        enable: 'true',
        port: '0',
        cert_file: pemFile('server-cert'),
        key_file: pemFile('server-key'),
        ...ssl,
      },
    },
  });
  after(() => server.close());
  return { ...server, tlsUrl: server.tlsUrl!, tlsPort: Number(new URL(server.tlsUrl!).port) };
}
