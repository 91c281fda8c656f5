import { WebSocket } from 'ws';
import type { HttpClient } from './http-client.js';

/** A message of the server. */
export interface SocketMessage {
  type: string;
  feed?: string;
  rows?: { seq: string; id: string; doc?: Record<string, unknown> }[];
  reason?: string;
  error?: string;
  last_seq?: string;
  pending?: number;
}

const waitMs = 20_000;

/** Speaks with the server over a WebSocket, and keeps what it is told. */
export class SocketClient {
  readonly messages: SocketMessage[] = [];
  closed: { code: number; reason: string } | undefined;
  /** The status by which a WebSocket was refused. */
  refused: number | undefined;
  readonly #socket: WebSocket;

  constructor(client: HttpClient, path: string, options: { origin?: string; protocols?: string[] } = {}) {
    const authorization = `Basic ${Buffer.from(client.credentials ?? '').toString('base64')}`;
    this.#socket = new WebSocket(
      client.url.replace('http', 'ws') + path,
      options.protocols ?? ['tuffet.changes.v1'],
      {
        headers: client.credentials === null ? {} : { authorization },
        ...(options.origin === undefined ? {} : { origin: options.origin }),
      },
    );
    this.#socket.on('message', (data: Buffer) =>
      this.messages.push(JSON.parse(data.toString()) as SocketMessage),
    );
    this.#socket.on('close', (code, reason) => (this.closed = { code, reason: reason.toString() }));
    this.#socket.on('unexpected-response', (_, response) => {
      this.refused = response.statusCode ?? 0;
      this.#socket.terminate();
    });
    this.#socket.on('error', () => undefined);
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  get rows(): NonNullable<SocketMessage['rows']> {
    return this.rowsOf(undefined);
  }

  rowsOf(feed: string | undefined): NonNullable<SocketMessage['rows']> {
    return this.messages.filter((each) => each.feed === feed).flatMap(({ rows }) => rows ?? []);
  }

  ofType(type: string, feed?: string): SocketMessage[] {
    return this.messages.filter((each) => each.type === type && (feed === undefined || each.feed === feed));
  }

  async opened(): Promise<this> {
    await this.until('the connection opens', () => this.#socket.readyState !== WebSocket.CONNECTING);
    return this;
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    const deadline = Date.now() + waitMs;
    while (!holds()) {
      if (Date.now() > deadline)
        throw new Error(`${what}: not within ${waitMs} ms; ${JSON.stringify(this.messages).slice(-500)}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  say(message: unknown): void {
    this.#socket.send(
      typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message),
    );
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  stop(): void {
    this.#socket.terminate();
  }
}
