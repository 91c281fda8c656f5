import http from 'node:http';
import type { HttpClient } from './http-client.js';

/** A row of a feed, or its last line. */
export interface FeedLine {
  seq?: string | null;
  id?: string;
  changes?: { rev: string }[];
  deleted?: boolean;
  doc?: Record<string, unknown> | null;
  last_seq?: string;
  pending?: number;
  db_name?: string;
  type?: string;
}

const waitMs = 20_000;

/** Reads a feed as it comes, line by line. */
export class FeedClient {
  /** All that came. */
  text = '';
  /** Lines that came whole, empty ones too. */
  lineCount = 0;
  status = 0;
  headers: http.IncomingHttpHeaders = {};
  /** Whether the answer has come to its end, and not merely stopped. */
  complete = false;
  #closed = false;
  #waiting = new Set<() => void>();
  readonly #request: http.ClientRequest;
  #response: http.IncomingMessage | undefined;

  constructor(
    client: HttpClient,
    path: string,
    options: { json?: unknown; headers?: Record<string, string> } = {},
  ) {
    const { hostname, port } = new URL(client.url);
    const body = options.json === undefined ? undefined : JSON.stringify(options.json);
    const authorization = `Basic ${Buffer.from(client.credentials ?? '').toString('base64')}`;
    const headers = {
      accept: 'application/json',
      ...(client.credentials === null ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    };
    const method = body === undefined ? 'GET' : 'POST';
    this.#request = http.request({ hostname, port, method, path, headers, agent: false }, (response) => {
      this.#response = response;
      this.status = response.statusCode ?? 0;
      this.headers = response.headers;
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        this.text += text;
        this.lineCount += text.split('\n').length - 1;
        this.#wake();
      });
      response.on('end', () => (this.complete = true));
      response.on('error', () => undefined);
      response.on('close', () => this.#close());
      this.#wake();
    });
    this.#request.on('error', () => this.#close());
    this.#request.end(body);
  }

  get isOpen(): boolean {
    return !this.#closed;
  }

  /** The lines of a continuous feed so far; heartbeats are left out. */
  get lines(): FeedLine[] {
    return this.text
      .split('\n')
      .slice(0, -1)
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as FeedLine);
  }

  get rows(): FeedLine[] {
    return this.lines.filter(({ last_seq }) => last_seq === undefined);
  }

  /** The ids of the rows so far. */
  get ids(): string[] {
    return this.rows.map(({ id }) => id!);
  }

  /** Waits until this holds, or fails after a while. */
  async until(what: string, holds: () => boolean): Promise<void> {
    const deadline = Date.now() + waitMs;
    while (!holds()) {
      if (Date.now() > deadline)
        throw new Error(`${what}: not within ${waitMs} ms; got ${this.text.slice(-500)}`);
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(wake, 100);
        this.#waiting.add(wake);
      });
    }
  }

  /** Waits for the answer to begin. */
  async begun(): Promise<this> {
    await this.until('the answer begins', () => this.status !== 0 || this.#closed);
    return this;
  }

  async ended(): Promise<this> {
    await this.until('the feed ends', () => this.#closed);
    return this;
  }

  pause(): void {
    this.#response?.pause();
  }

  resume(): void {
    this.#response?.resume();
  }

  stop(): void {
    this.#request.destroy();
  }

  #close(): void {
    this.#closed = true;
    this.#wake();
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
