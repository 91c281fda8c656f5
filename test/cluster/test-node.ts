import { spawn, type ChildProcess } from 'node:child_process';
import { pbkdf2Sync } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { asBytes } from '../../src/base/bytes.js';
import { Catalogue } from '../../src/node/catalogue.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import type { Entry } from '../../src/storage/store.js';
import { endWithParent } from '../support/end-with-parent.js';
import { HttpClient } from '../support/http-client.js';

const program = path.join(import.meta.dirname, '../../src/main/cli.js');

/** Of the password `secret`. The same on all nodes, so that each accepts cookies of the others. */
const adminHash = `-pbkdf2-${pbkdf2Sync('secret', 'salt', 10, 20, 'sha1').toString('hex')},salt,10`;

export interface NodeOptions {
  nats: string;
  name: string;
  /** What `[cluster]` has beside. */
  settings?: Record<string, string>;
  environment?: NodeJS.ProcessEnv;
}

/** A server process that is a node of a cluster. */
export class TestNode {
  #process: ChildProcess | undefined;
  #client: HttpClient | undefined;
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-node-'));
  log = '';

  constructor(private readonly options: NodeOptions) {}

  static async start(options: NodeOptions): Promise<TestNode> {
    const node = new TestNode(options);
    await node.run();
    return node;
  }

  get client(): HttpClient {
    return this.#client!;
  }

  get name(): string {
    const { name } = this.options;
    return name.includes('@') ? name : `tuffet@${name}`;
  }

  get process(): ChildProcess {
    return this.#process!;
  }

  async run(): Promise<void> {
    const { nats, name, settings = {}, environment = {} } = this.options;
    const args = ['serve', '--port', '0', '--data', this.folder, '--admin', `admin:${adminHash}`];
    args.push('--cluster', nats, '--node-name', name);
    const cluster = { secret: 'shared', streams: '2', allow_unsafe_log: 'true', ...settings };
    const env: NodeJS.ProcessEnv = { ...process.env, TUFFET__CHTTPD_AUTH__ITERATIONS: '10', ...environment };
    for (const [key, value] of Object.entries(cluster)) env[`TUFFET__CLUSTER__${key.toUpperCase()}`] = value;
    const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    endWithParent(child);
    this.#process = child;
    child.stderr.on('data', (chunk: Buffer) => (this.log += chunk.toString()));
    this.#client = new HttpClient(await listening(child, () => this.log));
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }

  /** Loses all that the node has on disk. */
  async wipe(): Promise<void> {
    await this.end('SIGKILL');
    fs.rmSync(this.folder, { recursive: true, force: true });
    fs.mkdirSync(this.folder);
  }

  async close(): Promise<void> {
    await this.end('SIGKILL');
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * What replicas must have in common when nothing is written, from the files of a node that is stopped: the records of
   * databases in the catalogue, and all keys of one of them. Its lease and `_global_changes` go on being written.
   */
  async contents(database: string): Promise<{ databases: Entry[]; documents: Entry[] }> {
    const store = new LmdbStore(path.join(this.folder, 'catalogue'));
    const databases = [...store.entries({ start: asBytes('d'), end: asBytes('e') })];
    const { instance } = new Catalogue(store, () => {}).get(database)!;
    await store.close();
    const [volume] = fs.readdirSync(path.join(this.folder, 'documents'));
    const volumeStore = new LmdbStore(path.join(this.folder, 'documents', volume!));
    const documents = [...volumeStore.entries(new DatabaseKeys(instance).range)];
    await volumeStore.close();
    return { databases, documents };
  }
}

function listening(child: ChildProcess, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout!.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const url = /listens on (http:\/\/[^/\s]+)/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', (code) => reject(new Error(`the node ended with ${code}: ${log()}`)));
  });
}
