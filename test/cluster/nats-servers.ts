import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

/** Whether the tests of a cluster can run here. */
export const hasNats = spawnSync('nats-server', ['--version']).status === 0;

export const skipWithoutNats = hasNats
  ? {}
  : { skip: 'there is no nats-server: install it, on Debian with apt-get install nats-server' };

/** A NATS server of a test, with JetStream in a folder of its own. */
export class TestNats {
  #process: ChildProcess | undefined;

  private constructor(
    readonly folder: string,
    readonly port: number,
    private readonly args: readonly string[],
  ) {}

  static async start(more: { args?: string[]; folder?: string; port?: number } = {}): Promise<TestNats> {
    const folder = more.folder ?? fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-nats-'));
    const server = new TestNats(folder, more.port ?? (await freePort()), more.args ?? []);
    await server.run();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.#process!.pid!;
  }

  async run(): Promise<void> {
    const args = ['-a', '127.0.0.1', '-p', String(this.port), '-js', '-sd', this.folder, ...this.args];
    this.#process = spawn('nats-server', args, { stdio: 'ignore' });
    await untilListening(this.port);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }

  async close(): Promise<void> {
    await this.kill();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

async function untilListening(port: number): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = net.connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens on port ${port}`);
}
