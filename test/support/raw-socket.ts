import net from 'node:net';

/** How long a connection may stay silent before what came is taken for all. */
const silenceMs = 1500;

export interface RawOptions {
  /** Ends the exchange as soon as the text so far says so. */
  until?: (received: string) => boolean;
  /** Milliseconds between one piece and the next. */
  pauseMs?: number;
}

/** Sends bytes as they are over a connection of their own; gives what came back until it fell silent or closed. */
export function sendRaw(
  port: number,
  pieces: string | Buffer | (string | Buffer)[],
  { until, pauseMs = 0 }: RawOptions = {},
): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = net.connect(port, '127.0.0.1');
    const done = (): void => {
      socket.destroy();
      resolve(received);
    };
    socket.setTimeout(silenceMs + pauseMs, done);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (until?.(received)) done();
    });
    socket.on('error', done);
    socket.on('close', done);
    socket.on('connect', () => void sendPieces(socket, [pieces].flat(), pauseMs));
  });
}

async function sendPieces(socket: net.Socket, pieces: (string | Buffer)[], pauseMs: number): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    socket.write(piece);
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Sends bytes and hangs up without waiting for an answer. */
export function sendAndHangUp(port: number, bytes: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
    socket.on('connect', () => socket.write(bytes, () => setTimeout(() => socket.resetAndDestroy(), 30)));
  });
}

/** The statuses of the answers in a received text, in their order. */
export function statusesIn(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

export const basicAuth = `Authorization: Basic ${Buffer.from('admin:secret').toString('base64')}\r\n`;

/** The head of a request, with credentials. */
export function requestHead(method: string, path: string, ...headers: string[]): string {
  const lines = headers.map((header) => `${header}\r\n`).join('');
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${basicAuth}${lines}\r\n`;
}
