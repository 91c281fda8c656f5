import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { createServer } from '../../src/server/create-server.js';
import type { ServerOptions } from '../../src/server/server-options.js';
import { HttpClient } from './http-client.js';

/** A client of a server of the calling file's own, in memory, which closes with the file's last test. */
export async function startServer(options: ServerOptions = {}): Promise<HttpClient> {
  const server = await createServer({
    ...(options.dataDir === undefined ? { inMemory: true } : {}),
    admins: { admin: 'secret' },
    port: 0,
    logLevel: 'none',
    ...options,
    // Passwords are checked in most requests of a test: few rounds will do.
    config: { chttpd_auth: { iterations: '100' }, ...options.config },
  });
  after(() => server.close());
  return new HttpClient(server.url);
}

/** A folder that goes with the file's last test. */
export function temporaryFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-test-'));
  after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let databases = 0;

/** The path of a new and empty database. */
export async function newDb(client: HttpClient, query = ''): Promise<string> {
  const db = `/test${++databases}`;
  const { status, text } = await client.put(db + query);
  if (status !== 201) throw new Error(`The database ${db} could not be made: ${text}`);
  return db;
}
