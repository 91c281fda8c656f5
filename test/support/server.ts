import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { createServer } from '../../src/server/create-server.js';
import type { ServerOptions } from '../../src/server/server-options.js';
import { HttpClient } from './http-client.js';

/** A client of a server of the calling file's own, in memory, which closes with the file's last test. */
export async function startServer(given: ServerOptions = {}): Promise<HttpClient> {
  const options = withWorkers(given);
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

/** The tests run with several processes and index threads for each server, too; what is in memory only would have one. */
function withWorkers(options: ServerOptions): ServerOptions {
  const workers = process.env['TUFFET_WORKERS'];
  if (workers === undefined || options.inMemory) return options;
  return {
    dataDir: options.dataDir ?? temporaryFolder(),
    ...options,
    config: { ...options.config, tuffet: { workers, index_threads: '3', ...options.config?.['tuffet'] } },
  };
}

const folders: string[] = [];

/**
 * A folder that is removed when the process ends, whatever has become of its tests. Not earlier: hooks run in the order in
 * which they were given, and a server that is closed after its folder was removed would write there again.
 */
export function temporaryFolder(): string {
  if (folders.length === 0) process.once('exit', removeFolders);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-test-'));
  folders.push(folder);
  return folder;
}

function removeFolders(): void {
  for (const folder of folders) {
    try {
      fs.rmSync(folder, { recursive: true, force: true });
    } catch {
      // A process that the test has left still writes there; the folder goes with those of the whole run.
    }
  }
}

let databases = 0;

/** The path of a new and empty database. */
export async function newDb(client: HttpClient, query = ''): Promise<string> {
  const db = `/test${++databases}`;
  const { status, text } = await client.put(db + query);
  if (status !== 201) throw new Error(`The database ${db} could not be made: ${text}`);
  return db;
}
