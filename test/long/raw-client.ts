import { once } from 'node:events';
import net from 'node:net';

export interface RawRequest {
  url: string;
  method: string;
  path: string;
  headers?: Record<string, string>;
  /** Sent as fast as the server takes it, while the answer is already being read. */
  body?: Iterable<Buffer>;
  /** Reads no faster than this; as fast as possible without it. */
  mbPerSecond?: number;
  /** Goes away after this long. */
  forSeconds?: number;
}

export interface RawAnswer {
  status: number;
  /** All that came, head included. */
  bytes: number;
  /** The last of it. */
  end: string;
  seconds: number;
}

const tickMs = 10;

/** Reads an answer from a plain socket, at a pace that is exactly known, and keeps nothing of it but its two ends. */
export async function rawRequest(request: RawRequest): Promise<RawAnswer> {
  const { url, method, path, headers = {}, body, mbPerSecond, forSeconds } = request;
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port) });
  const started = performance.now();
  let head = '';
  let end = '';
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    if (head.length < 12) head += chunk.toString('latin1', 0, 12);
    end = (end + chunk.toString('latin1', Math.max(0, chunk.length - 64))).slice(-64);
    bytes += chunk.length;
    if (mbPerSecond !== undefined && bytes > allowance(started, mbPerSecond)) socket.pause();
  });
  const pace = setInterval(() => {
    if (forSeconds !== undefined && performance.now() - started > forSeconds * 1000) socket.destroy();
    else if (mbPerSecond !== undefined && bytes <= allowance(started, mbPerSecond)) socket.resume();
  }, tickMs);
  const closed = once(socket, 'close');
  const fields = { Host: hostname, Connection: 'close', ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  try {
    await Promise.race([send(socket, body ?? []), closed]);
    await closed;
  } finally {
    clearInterval(pace);
  }
  return { status: Number(head.slice(9, 12)), bytes, end, seconds: (performance.now() - started) / 1000 };
}

const allowance = (started: number, mbPerSecond: number): number =>
  ((performance.now() - started) / 1000) * mbPerSecond * 1e6;

async function send(socket: net.Socket, body: Iterable<Buffer>): Promise<void> {
  for (const piece of body) {
    if (socket.destroyed) return;
    if (!socket.write(piece)) await new Promise<void>((resolve) => socket.once('drain', resolve));
  }
}
