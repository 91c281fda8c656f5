import { once } from 'node:events';
import net from 'node:net';
import { assertOk } from '../support/expect.js';
import type { HttpClient } from '../support/http-client.js';
import { requestHead } from '../support/raw-socket.js';
import { eventually } from './kept-files.js';

/** A reader that asks, takes the beginning, and waits until it is told to go on. */
export class SlowReader {
  readonly #socket: net.Socket;
  readonly #chunks: Buffer[] = [];

  /** With a body it asks by POST. */
  constructor(client: HttpClient, path: string, headers: readonly string[] = [], body?: string) {
    this.#socket = net.connect(client.port, '127.0.0.1');
    this.#socket.on('error', () => {});
    const method = body === undefined ? 'GET' : 'POST';
    const length =
      body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${body.length}`];
    this.#socket.write(requestHead(method, path, 'Connection: close', ...headers, ...length) + (body ?? ''));
  }

  async begin(): Promise<void> {
    await once(this.#socket, 'readable');
    this.#chunks.push(this.#socket.read() as Buffer);
  }

  /** The body of the answer, as far as it came. */
  async finish(): Promise<Buffer> {
    for await (const chunk of this.#socket) this.#chunks.push(chunk as Buffer);
    const all = Buffer.concat(this.#chunks);
    const end = all.indexOf('\r\n\r\n') + 4;
    const isChunked = /^transfer-encoding: chunked/im.test(all.toString('latin1', 0, end));
    return isChunked ? unchunked(all.subarray(end)) : all.subarray(end);
  }

  leave(): void {
    this.#socket.resetAndDestroy();
  }
}

function unchunked(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at);
    const length = parseInt(bytes.toString('latin1', at, line), 16);
    if (line < 0 || !(length > 0)) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(line + 2, line + 2 + length));
    at = line + 2 + length + 2;
  }
}

export async function purgeAndCompact(
  client: HttpClient,
  db: string,
  id: string,
  rev: string,
): Promise<void> {
  assertOk(await client.post(`${db}/_purge`, { [id]: [rev] }), 201);
  assertOk(await client.post(`${db}/_compact`), 202);
  await eventually(async () => (await client.get(db)).body.compact_running as boolean, false, 'compacted');
}
