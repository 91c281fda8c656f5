import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';

const startTimeoutMs = 60_000;
const children = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** A server that figures are measured on. */
export interface BenchServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** The header of its admin. */
  readonly authorization: string;
  /** NaN where its processor time cannot be known. */
  readonly pid: number;
  /** Creates a database that everyone may read and write. */
  createDatabase(name: string): Promise<void>;
  documentCount(name: string): Promise<number>;
}

export const basic = (credentials: string): string => `Basic ${Buffer.from(credentials).toString('base64')}`;

/** The headers of a request by which a server's admin sends JSON. */
export const jsonHeaders = ({ authorization }: BenchServer): Record<string, string> => ({
  authorization,
  'Content-Type': 'application/json',
});

interface StartOptions {
  /** The name of its data folder. */
  data?: string;
  nodeOptions?: readonly string[];
  args?: readonly string[];
}

/** How many documents a database of a server has. */
export async function countDocuments(url: string, name: string): Promise<number> {
  const answer = await fetch(`${url}/${name}`);
  return ((await answer.json()) as { doc_count: number }).doc_count;
}

/** The server under test, in a process of its own with a data folder of its own. Its log goes to a file. */
export class ServerProcess implements BenchServer {
  readonly authorization = basic('admin:bench');

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(
    folder: string,
    logLevel: string,
    { data = 'data', nodeOptions = [], args: furtherArgs = [] }: StartOptions = {},
  ): Promise<ServerProcess> {
    const program = path.resolve(import.meta.dirname, '../src/main/cli.js');
    const args = [
      '--port',
      '0',
      '--data',
      path.join(folder, data),
      '--admin',
      'admin:bench',
      '--log-level',
      logLevel,
      ...furtherArgs,
    ];
    const log = path.join(folder, `${data}.log`);
    const child = spawn(process.execPath, [...nodeOptions, program, ...args], {
      stdio: ['ignore', 'pipe', fs.openSync(log, 'w')],
    });
    children.add(child);
    const url = await addressOf(child, log);
    return new ServerProcess(child, url);
  }

  get pid(): number {
    return this.child.pid!;
  }

  get host(): string {
    return new URL(this.url).hostname;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async createDatabase(name: string): Promise<void> {
    const { authorization } = this;
    const answer = await fetch(`${this.url}/${name}`, { method: 'PUT', headers: { authorization } });
    if (answer.status !== 201) throw new Error(`PUT /${name} was answered ${answer.status}.`);
  }

  async documentCount(name: string): Promise<number> {
    return await countDocuments(this.url, name);
  }

  async stop(): Promise<void> {
    await stop(this.child);
  }
}

/** A floor in a process of its own: a file of `floors/`, told by message what to do. */
export class FloorProcess<Ready> {
  private constructor(
    private readonly child: ChildProcess,
    /** What it said when it was ready. */
    readonly ready: Ready,
  ) {}

  static async start<Ready>(name: string, settings: object): Promise<FloorProcess<Ready>> {
    const child = fork(path.join(import.meta.dirname, 'floors', `${name}.js`), [JSON.stringify(settings)]);
    children.add(child);
    return new FloorProcess(child, await nextMessage<Ready>(child, name));
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Sends a message and waits for the answer. */
  async ask<Answer>(question: string): Promise<Answer> {
    const answer = nextMessage<Answer>(this.child, question);
    this.child.send(question);
    return await answer;
  }

  async stop(): Promise<void> {
    await stop(this.child);
  }
}

async function nextMessage<T>(child: ChildProcess, about: string): Promise<T> {
  return await new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`The floor ended with ${code} (${about}).`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as T);
    });
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
  children.delete(child);
}

async function addressOf(child: ChildProcess, log: string): Promise<string> {
  let text = '';
  child.stdout!.on('data', (data) => (text += String(data)));
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline && child.exitCode === null) {
    const url = /listens on (http:\S+?)\/?\s/.exec(text)?.[1];
    if (url !== undefined) return url;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`The server did not start: ${fs.readFileSync(log, 'utf8')}`);
}
