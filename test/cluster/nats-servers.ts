import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { jetstreamManager, type ClusterInfo, type JetStreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { endWithParent } from '../support/end-with-parent.js';
import { until } from './until.js';

const version = spawnSync('nats-server', ['--version'], { encoding: 'utf8' });

/** Whether the tests of a cluster can run here. */
export const hasNats = version.status === 0;

/**
 * Before 2.10, servers that are all killed at once may come back with different messages at the same place of a stream: one
 * keeps what the new leader has replaced (seen with 2.9.10).
 */
const forgetsWhenKilled = /v2\.[0-9]\./.test(version.stdout ?? '');

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

  /** Starts it, unless it runs. */
  async run(): Promise<void> {
    if (this.#process !== undefined) return;
    const args = ['-a', '127.0.0.1', '-p', String(this.port), ...this.#storage(), ...this.args];
    this.#process = spawn('nats-server', args, { stdio: 'ignore' });
    endWithParent(this.#process);
    await untilListening(this.port);
  }

  /** As production needs it, where the version can. */
  #storage(): string[] {
    if (forgetsWhenKilled || this.args.includes('-c')) return ['-js', '-sd', this.folder];
    const file = path.join(this.folder, 'server.conf');
    fs.writeFileSync(
      file,
      `jetstream { store_dir: ${JSON.stringify(this.folder)}, sync_interval: always }\n`,
    );
    return ['-c', file];
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }

  /** Changes its streams, as an operator may. */
  async manage(use: (manager: JetStreamManager) => Promise<unknown>): Promise<void> {
    const connection = await connect({ servers: this.url });
    try {
      await use(await jetstreamManager(connection));
    } finally {
      await connection.close();
    }
  }

  async close(): Promise<void> {
    await this.kill();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Three NATS servers, which keep copies of each other's streams. */
export class TestNatsCluster {
  private constructor(readonly servers: readonly TestNats[]) {}

  static async start(): Promise<TestNatsCluster> {
    const names = ['n1', 'n2', 'n3'];
    const ports = await Promise.all(names.map(() => freePort()));
    const routes = ports.map((port) => `nats://127.0.0.1:${port}`);
    const servers = names.map((name, at) => {
      const args = ['--name', name, '--cluster_name', 'test', '--cluster', routes[at]!];
      // Clients know the addresses that they are given and no others: those may be proxies.
      args.push('--no_advertise=true', '--routes', routes.filter((route) => route !== routes[at]).join(','));
      return TestNats.start({ args });
    });
    const cluster = new TestNatsCluster(await Promise.all(servers));
    await cluster.ready();
    return cluster;
  }

  get url(): string {
    return this.servers.map(({ url }) => url).join(',');
  }

  /** Starts those again that are down. */
  async run(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.run()));
    await this.ready();
  }

  /** Ends all of them at once: as hard as their version bears it. */
  async killAll(): Promise<void> {
    const signal = forgetsWhenKilled ? 'SIGTERM' : 'SIGKILL';
    await Promise.all(this.servers.map((server) => server.kill(signal)));
  }

  /** Resolves when they have elected a leader. */
  async ready(): Promise<void> {
    const end = Date.now() + 60_000;
    for (;;) {
      const connection = await connect({ servers: this.url.split(','), timeout: 5_000 });
      try {
        await (await jetstreamManager(connection, { timeout: 2_000 })).streams.list().next();
        return;
      } catch (error) {
        if (Date.now() > end) throw error;
      } finally {
        await connection.close();
      }
    }
  }

  /** The server that leads a stream. */
  async leaderOf(stream: string): Promise<TestNats> {
    let leader: string | undefined;
    await until(async () => (leader = (await this.#copiesOf(stream))?.leader) !== undefined);
    return this.servers[Number(leader!.slice(1)) - 1]!;
  }

  /** Whether all servers have all of a stream. */
  async isComplete(stream: string): Promise<boolean> {
    const { leader, replicas = [] } = (await this.#copiesOf(stream)) ?? {};
    return leader !== undefined && replicas.every(({ current, offline }) => current && offline !== true);
  }

  /** Nothing where no server leads it. */
  async #copiesOf(stream: string): Promise<ClusterInfo | undefined> {
    const connection = await connect({ servers: this.url.split(',') });
    try {
      return (await (await jetstreamManager(connection)).streams.info(stream)).cluster;
    } catch {
      return undefined;
    } finally {
      await connection.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.close()));
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

export async function untilListening(port: number): Promise<void> {
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
