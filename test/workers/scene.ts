import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { ServerProcess } from '../long/server-process.js';
import { HttpClient, type Answer } from '../support/http-client.js';

const untilMs = 60_000;

/** Waits for a condition, however slow the machine is. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + untilMs;
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Processes whose parent is this one, by their numbers. */
export function childrenOf(parent: number): number[] {
  return fs
    .readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && fieldsOf(pid)?.[1] === String(parent));
}

export function isRunning(pid: number): boolean {
  const state = fieldsOf(pid)?.[0];
  return state !== undefined && state !== 'Z';
}

/** What the system says of a process, from its state on; undefined where there is none. */
function fieldsOf(pid: number): string[] | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** A server of two processes, with a database `db` that has a document `doc`. */
export class Scene {
  private constructor(
    readonly server: ServerProcess,
    readonly admin: HttpClient,
  ) {}

  static async start(t: TestContext, args: readonly string[] = []): Promise<Scene> {
    // Indexes lie in several stores.
    const env = { TUFFET__TUFFET__INDEX_THREADS: '3' };
    const server = await ServerProcess.start(t, { args: ['--workers', '2', ...args], env });
    const scene = new Scene(server, new HttpClient(server.url));
    assert.equal((await scene.admin.put('/db')).status, 201);
    assert.equal((await scene.admin.put('/db/doc', { n: 0 })).status, 201);
    return scene;
  }

  get folder(): string {
    return path.join(this.server.folder, 'data');
  }

  get workers(): number[] {
    return childrenOf(this.server.pid);
  }

  /** A client with one connection, which stays open. */
  client(credentials = 'admin:secret'): HttpClient {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    return new HttpClient(this.server.url, credentials, agent);
  }

  /** Two clients, one on a connection to the owner of the data folder, the other on one to the worker. */
  async pair(credentials?: string, document = '/db/doc'): Promise<[owner: HttpClient, worker: HttpClient]> {
    const clients: HttpClient[] = [];
    let pair: [HttpClient, HttpClient] | undefined;
    await until('a connection to each process', async () => {
      // A worker that has just been started gets its connections later, and forwards the first request.
      clients.push(this.client(credentials));
      const worker = await this.#find(clients, true, document);
      const owner = worker && (await this.#find(clients, false, document));
      if (owner !== undefined) pair = [owner, worker!];
      return pair !== undefined;
    });
    return pair!;
  }

  async #find(clients: HttpClient[], byWorker: boolean, document: string): Promise<HttpClient | undefined> {
    for (const client of clients) if ((await this.isByWorker(client, document)) === byWorker) return client;
    return undefined;
  }

  /** Whether a worker answers for a document by itself: it gives other names to requests than the owner does. */
  async isByWorker(client: HttpClient, document = '/db/doc'): Promise<boolean> {
    const read = await client.get(document);
    assert.equal(read.status, 200, read.text);
    return prefixOf(read) !== prefixOf(await client.get('/'));
  }
}

/** Each process gives other names to requests. */
export const prefixOf = ({ headers }: Answer): string => String(headers['x-couch-request-id']).slice(0, 8);
