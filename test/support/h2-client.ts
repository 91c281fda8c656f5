import http2, { type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from 'node:http2';
import { pem } from './tls.js';

export interface H2Answer {
  status: number;
  headers: Record<string, string>;
  raw: Buffer;
  text: string;
}

const answerWithinMs = 20_000;
const ofConnection = ['transfer-encoding', 'connection', 'host'];
export const adminLogin = `Basic ${Buffer.from('admin:secret').toString('base64')}`;

/** One HTTP/2 connection to a server of the tests, whose certificate it checks. */
export class H2Client {
  readonly session: ClientHttp2Session;

  constructor(
    url: string,
    /** Sent with every request that says nothing else. */
    private readonly defaults: OutgoingHttpHeaders = {
      accept: 'application/json',
      authorization: adminLogin,
    },
  ) {
    this.session = http2.connect(url, { ca: pem('server-cert') });
    this.session.on('error', () => undefined);
  }

  open(method: string, path: string, headers: OutgoingHttpHeaders = {}): ClientHttp2Stream {
    const sent = Object.entries(headers).filter(([name]) => !ofConnection.includes(name));
    const stream = this.session.request(
      {
        ':method': method,
        ':path': path,
        ...this.defaults,
        ...Object.fromEntries(sent),
      },
      { endStream: false },
    );
    stream.setTimeout(answerWithinMs, () => stream.destroy(new Error(`${method} ${path}: no answer`)));
    return stream;
  }

  send(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders = {},
    payload?: Buffer | string,
  ): Promise<H2Answer> {
    const stream = this.open(method, path, headers);
    stream.end(payload);
    return answerOf(stream);
  }

  close(): Promise<void> {
    return new Promise((resolve) => (this.session.closed ? resolve() : this.session.close(resolve)));
  }
}

/** The whole answer; fails where the stream was broken off. */
export function answerOf(stream: ClientHttp2Stream): Promise<H2Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    let headers: Record<string, string> = {};
    stream.on('response', ({ ':status': given = 0, ...rest }) => {
      status = given;
      headers = rest as Record<string, string>;
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('close', () => {
      const raw = Buffer.concat(chunks);
      if (stream.rstCode !== 0) reject(new Error(`broken off with ${stream.rstCode}`));
      else resolve({ status, headers, raw, text: raw.toString('utf8') });
    });
  });
}
