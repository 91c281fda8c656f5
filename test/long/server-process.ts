import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

const program = path.resolve(import.meta.dirname, '../../src/main/cli.js');
const startTimeoutMs = 60_000;

export const authorization = `Basic ${Buffer.from('admin:secret').toString('base64')}`;

/** Why a test that reads /proc cannot run here; false where it can. */
export const withoutProc: string | false =
  process.platform === 'linux' ? false : 'the memory and files of a process are read from Linux /proc';

export interface ProcessOptions {
  /** The data folder; one below `folder` unless it is given. */
  data?: string;
  /** Further arguments, and variables of the environment. */
  args?: readonly string[];
  env?: Record<string, string>;
}

/** A server in a process of its own, on a data folder that goes with the test. */
export class ServerProcess {
  #child: ChildProcess | undefined;
  url = '';
  tlsUrl = '';

  private constructor(
    readonly folder: string,
    private readonly options: ProcessOptions,
  ) {}

  static async start(t: TestContext, options: ProcessOptions = {}): Promise<ServerProcess> {
    const server = new ServerProcess(fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-long-')), options);
    t.after(async () => {
      await server.stop('SIGKILL');
      fs.rmSync(server.folder, { recursive: true, force: true });
    });
    await server.start();
    return server;
  }

  /** Resolves when the server has said where it listens. */
  async start(): Promise<void> {
    const log = path.join(this.folder, 'server.log');
    const { data = path.join(this.folder, 'data'), args = [], env = {} } = this.options;
    const common = ['--port', '0', '--data', data, '--admin', 'admin:secret'];
    const output = fs.openSync(log, 'a');
    const child = spawn(process.execPath, [program, ...common, ...args], {
      stdio: ['ignore', 'pipe', output],
      env: { ...process.env, ...env },
    });
    fs.closeSync(output);
    this.#child = child;
    let text = '';
    child.stdout!.on('data', (data) => (text += String(data)));
    const deadline = Date.now() + startTimeoutMs;
    while (Date.now() < deadline && child.exitCode === null) {
      const url = /listens on (http:\S+?)\/?\s/.exec(text)?.[1];
      if (url !== undefined) {
        this.url = url;
        this.tlsUrl = /and (https:\S+?)\/?\s/.exec(text)?.[1] ?? '';
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.fail(`The server did not start: ${fs.readFileSync(log, 'utf8').slice(-2_000)}`);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  /** Whether it runs, as far as is known: not after it has ended by itself. */
  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** How it has ended, if it has, and the end of what it has logged. */
  get lastWords(): string {
    const { exitCode = null, signalCode = null } = this.#child ?? {};
    const log = fs.readFileSync(path.join(this.folder, 'server.log'), 'utf8');
    return `exit code ${exitCode}, signal ${signalCode}: ${log.slice(-2_000)}`;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Memory that is the process's own, in MB; the pages of the mapped store are not among it. */
  anonymous_mb(): number {
    const status = fs.readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)![1]) / 1024;
  }

  openFiles(): number {
    return fs.readdirSync(`/proc/${this.pid}/fd`).length;
  }

  /** Runs `work` and gives by how many MB the memory grew at most meanwhile. */
  async growth_mb(work: () => Promise<unknown>): Promise<number> {
    const before = this.anonymous_mb();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, this.anonymous_mb())), 20);
    try {
      await work();
    } finally {
      clearInterval(watch);
    }
    return Math.max(most, this.anonymous_mb()) - before;
  }

  async createDatabase(name: string): Promise<void> {
    const answer = await fetch(`${this.url}/${name}`, { method: 'PUT', headers: { authorization } });
    assert.equal(answer.status, 201);
  }
}

/** The value below which this share of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
