import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createServer } from '../../src/server/create-server.js';
import type { ServerOptions } from '../../src/server/server-options.js';
import { assertOk } from '../support/expect.js';
import { HttpClient } from '../support/http-client.js';
import { temporaryFolder } from '../support/server.js';

/** The bytes of an attachment that is kept as a file. */
export const largeBytes = randomBytes(100_000);
export const documentCount = 300;

/** A folder with a database `d`: documents, an attachment in a file, a view with an index. The server is stopped. */
export async function filledFolder(): Promise<string> {
  const folder = temporaryFolder();
  await withServer(folder, async (client) => {
    assertOk(await client.put('/d'), 201);
    const docs = Array.from({ length: documentCount }, (_, n) => ({
      _id: `doc${n}`,
      n,
      pad: 'x'.repeat(500),
    }));
    assertOk(await client.post('/d/_bulk_docs', { docs }), 201);
    const headers = { 'content-type': 'application/octet-stream' };
    assertOk(await client.send('PUT', '/d/att/large', { raw: largeBytes, headers }), 201);
    const map = 'function (doc) { if (doc.n !== undefined) emit(doc.n, 1) }';
    assertOk(await client.put('/d/_design/v', { views: { v: { map, reduce: '_count' } } }), 201);
    assertOk(await client.get('/d/_design/v/_view/v'), 200);
  });
  return folder;
}

export function copyOf(folder: string): string {
  const copy = temporaryFolder();
  fs.cpSync(folder, copy, { recursive: true });
  return copy;
}

/** Runs a server on a folder while `work` goes on. */
export async function withServer<T>(
  dataDir: string,
  work: (client: HttpClient) => Promise<T>,
  options: ServerOptions = {},
): Promise<T> {
  const server = await createServer({
    dataDir,
    admins: { admin: 'secret' },
    port: 0,
    logLevel: 'none',
    config: { chttpd_auth: { iterations: '100' } },
    ...options,
  });
  const client = new HttpClient(server.url);
  try {
    return await work(client);
  } finally {
    await server.close();
  }
}

export const blobFile = (folder: string): string => {
  const names = fs.readdirSync(path.join(folder, 'attachments'), { recursive: true }) as string[];
  const found = names.find((name) => /^[0-9a-f]{2}.[0-9a-f]{62}$/.test(name));
  if (found === undefined) throw new Error('there is no blob');
  return path.join(folder, 'attachments', found);
};

/** All files with their sizes, but for what every start touches. */
export function listing(folder: string): string[] {
  return (fs.readdirSync(folder, { recursive: true }) as string[])
    .filter((name) => !name.endsWith('lock.mdb'))
    .map((name) => `${name} ${fs.statSync(path.join(folder, name)).size}`)
    .sort();
}
