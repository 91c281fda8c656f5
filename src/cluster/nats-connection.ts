import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import {
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node';
import fs from 'node:fs';
import type { Logger } from '../base/logger.js';
import { SystemRuntime, type Runtime } from '../base/runtime.js';
import { StartupError } from '../base/startup-error.js';
import { NatsStream, type StreamSettings } from './nats-stream.js';

export interface NatsOptions {
  /** Addresses of servers, separated by commas. */
  servers: string;
  /** The name of the node, which the servers show in their lists of connections. */
  name: string;
  /** Empty texts are as good as none. */
  user?: string;
  password?: string;
  token?: string;
  /** With a JSON web token and the key that signs with it, as `nsc` writes it. */
  credentialsFile?: string;
  tls?: { caFile?: string; certFile?: string; keyFile?: string };
}

/** How long a start waits for a server. */
const connectTimeoutMs = 10_000;
/** How long a start waits for JetStream: servers that have lost one of theirs elect another leader. */
const electionMs = 30_000;
const againMs = 500;
/** How long a publication or a question may take before it counts as failed. */
const requestTimeoutMs = 2_500;

/** The connection of a node to the servers that have its streams. It is renewed by itself as long as the node runs. */
export class NatsServers {
  readonly #js: JetStreamClient;
  readonly #onReconnect = new Set<() => void>();
  #isConnected = true;

  private constructor(
    private readonly connection: NatsConnection,
    private readonly manager: JetStreamManager,
    private readonly logger: Logger,
  ) {
    this.#js = jetstream(connection, { timeout: requestTimeoutMs });
    void this.#watch();
  }

  static async connect(
    options: NatsOptions,
    logger: Logger,
    runtime: Runtime = new SystemRuntime(),
  ): Promise<NatsServers> {
    const { servers, name } = options;
    const login = loginOf(options);
    let connection: NatsConnection | undefined;
    try {
      connection = await connect({
        servers: servers.split(',').map((each) => each.trim()),
        name,
        ...login,
        timeout: connectTimeoutMs,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 500,
        pingInterval: 5_000,
      });
      return new NatsServers(connection, await whenElected(connection, logger, runtime), logger);
    } catch (error) {
      await connection?.close();
      throw new StartupError(
        `No NATS server with JetStream answers at ${servers.replace(/[^,/]*@/g, '')}: ${(error as Error).message}.`,
      );
    }
  }

  /** The version of the server that the node is connected to. */
  get version(): string {
    return this.connection.info?.version ?? '0';
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** A stream, which is created if there is none. */
  stream(settings: StreamSettings): NatsStream {
    return new NatsStream(settings, {
      js: this.#js,
      waiting: (timeout) => jetstream(this.connection, { timeout }),
      manager: this.manager,
      onReconnect: this.#onReconnect,
    });
  }

  /** Sends a message that is not stored; nothing happens if there is no listener or the connection is lost. */
  tell(subject: string, text: string): void {
    if (!this.connection.isClosed()) this.connection.publish(subject, text);
  }

  /** Listens to such messages. Gives the function that ends it. */
  listen(subject: string, hear: (text: string) => void): () => void {
    const subscription = this.connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) hear(message.string());
      },
    });
    return () => subscription.unsubscribe();
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.connection.status()) {
      if (type === 'disconnect') {
        this.#isConnected = false;
        this.logger.warn({}, 'the connection to the NATS server is lost; it is renewed');
      } else if (type === 'reconnect') {
        this.#isConnected = true;
        this.logger.notice({ server: this.connection.getServer() }, 'connected to a NATS server again');
        for (const renew of this.#onReconnect) renew();
      }
    }
  }
}

/** Who this node is for the servers. With TLS, servers that do not offer it are refused before anything is sent. */
function loginOf({
  servers,
  user,
  password,
  token,
  credentialsFile,
  tls = {},
}: NatsOptions): NodeConnectionOptions {
  const files = Object.entries(tls).filter(([, file]) => file !== '');
  for (const [, file] of files) readFile(file);
  const wantsTls = files.length > 0 || /\btls:\/\//.test(servers);
  return {
    ...(user && { user, pass: password ?? '' }),
    ...(token && { token }),
    ...(credentialsFile && { authenticator: credsAuthenticator(readFile(credentialsFile)) }),
    ...(wantsTls && { tls: Object.fromEntries(files) }),
  };
}

function readFile(file: string): Buffer {
  try {
    return fs.readFileSync(file);
  } catch (error) {
    throw new StartupError(`${file}, which [cluster] names, can't be read: ${(error as Error).message}.`);
  }
}

async function whenElected(
  connection: NatsConnection,
  logger: Logger,
  runtime: Runtime,
): Promise<JetStreamManager> {
  for (const endMs = runtime.monotonicMs() + electionMs; ;) {
    try {
      return await jetstreamManager(connection, { timeout: requestTimeoutMs });
    } catch (error) {
      if (runtime.monotonicMs() > endMs) throw error;
      logger.notice({ reason: (error as Error).message }, 'waiting until the NATS servers have JetStream');
      await runtime.sleep(againMs);
    }
  }
}
