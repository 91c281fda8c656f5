import http from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';

export interface RequestOptions {
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  raw?: string | Buffer;
  /** Null takes away a header that would be sent otherwise. */
  headers?: Record<string, string | null>;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The text parsed as JSON; undefined where it is none. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what comes back is what a test is there to find out
  body: any;
}

const answerWithinMs = 20_000;

/** Sends requests to one server as one user. Paths are sent as they are given, without any tidying. */
export class HttpClient {
  readonly #agent: http.Agent;

  constructor(
    readonly url: string,
    /** `name:password`, or null for nobody. */
    readonly credentials: string | null = 'admin:secret',
    agent?: http.Agent,
  ) {
    this.#agent = agent ?? new http.Agent({ keepAlive: true });
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** The address with the credentials in it, as other clients take it. */
  get urlWithCredentials(): string {
    return this.url.replace('://', `://${this.credentials}@`);
  }

  as(credentials: string | null): HttpClient {
    return new HttpClient(this.url, credentials, this.#agent);
  }

  get anonymous(): HttpClient {
    return this.as(null);
  }

  get(path: string, headers: Record<string, string | null> = {}): Promise<Answer> {
    return this.send('GET', path, { headers });
  }

  head(path: string): Promise<Answer> {
    return this.send('HEAD', path);
  }

  put(path: string, json?: unknown, headers: Record<string, string | null> = {}): Promise<Answer> {
    return this.send('PUT', path, { json, headers });
  }

  post(path: string, json?: unknown, headers: Record<string, string | null> = {}): Promise<Answer> {
    return this.send('POST', path, { json, headers });
  }

  delete(path: string, headers: Record<string, string | null> = {}): Promise<Answer> {
    return this.send('DELETE', path, { headers });
  }

  copy(path: string, destination: string): Promise<Answer> {
    return this.send('COPY', path, { headers: { destination } });
  }

  send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const body = options.raw ?? (options.json === undefined ? undefined : JSON.stringify(options.json));
    const headers = this.#headers(method, options.headers ?? {}, body);
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(this.url);
      const request = http.request(
        { hostname, port, method, path, headers, agent: this.#agent },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => resolve(answerOf(response, Buffer.concat(chunks))));
        },
      );
      // For `CONNECT`, what comes after the head is not an answer's body to Node.js, but what came through the tunnel.
      request.on('connect', (response, socket, first) => {
        const chunks: Buffer[] = [first];
        socket.on('data', (chunk: Buffer) => chunks.push(chunk));
        socket.on('error', reject);
        socket.on('end', () => resolve(answerOf(response, Buffer.concat(chunks))));
      });
      request.on('error', reject);
      request.setTimeout(answerWithinMs, () =>
        request.destroy(new Error(`${method} ${path.slice(0, 200)}: no answer`)),
      );
      request.end(body);
    });
  }

  #headers(
    method: string,
    wanted: Record<string, string | null>,
    body: string | Buffer | undefined,
  ): http.OutgoingHttpHeaders {
    const headers: http.OutgoingHttpHeaders = { accept: 'application/json' };
    if (body !== undefined || method === 'POST') headers['content-type'] = 'application/json';
    if (body !== undefined) headers['content-length'] = Buffer.byteLength(body);
    if (this.credentials !== null) {
      headers.authorization = `Basic ${Buffer.from(this.credentials).toString('base64')}`;
    }
    for (const [name, value] of Object.entries(wanted)) {
      if (value === null) delete headers[name.toLowerCase()];
      else headers[name.toLowerCase()] = value;
    }
    return headers;
  }
}

function answerOf(response: http.IncomingMessage, raw: Buffer): Answer {
  const text = raw.toString('utf8');
  return { status: response.statusCode ?? 0, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
