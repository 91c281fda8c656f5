import http from 'node:http';
import https from 'node:https';
import { userName, userPassword, type Answer, type CompareRequest, type User } from './request.js';

const answerTimeoutMs = 15_000;
const answerBytesMax = 8 * 1024 * 1024;
const unknownRev = '1-00000000000000000000000000000000';

/** One of the two servers, with what it has told so far: the revisions of each document. */
export class Peer {
  readonly #revs = new Map<string, string[]>();
  readonly #agent: http.Agent;
  readonly #base: URL;
  #db = '';

  constructor(url: string) {
    this.#base = new URL(url);
    const transport = this.#base.protocol === 'https:' ? https : http;
    this.#agent = new transport.Agent({ keepAlive: true, maxSockets: 4 });
  }

  /** Forgets what the server has told, and makes `{db}` mean another database. */
  enter(db: string): void {
    this.#db = db;
    this.#revs.clear();
  }

  async send(request: CompareRequest): Promise<Answer> {
    const body = request.body === undefined ? undefined : this.#fill(bodyText(request.body));
    const answer = await this.#exchange(request, this.#fill(request.path), body);
    this.#remember(answer.text);
    return answer;
  }

  close(): void {
    this.#agent.destroy();
  }

  #fill(text: string): string {
    return text.replaceAll(/\{(db|host|(?:rev|old):[^}]*)\}/g, (_, name: string) => {
      if (name === 'db') return this.#db;
      if (name === 'host') return this.#base.host;
      const revs = this.#revs.get(name.slice('rev:'.length)) ?? [];
      return (name.startsWith('old:') ? revs[0] : revs.at(-1)) ?? unknownRev;
    });
  }

  #remember(text: string): void {
    for (const [, id, rev] of text.matchAll(/"ok":true,"id":"([^"]*)","rev":"([^"]*)"/g)) {
      const revs = this.#revs.get(id!) ?? [];
      if (revs.at(-1) !== rev) this.#revs.set(id!, [...revs, rev!]);
    }
  }

  #exchange(asked: CompareRequest, path: string, body: string | undefined): Promise<Answer> {
    const { hostname, port, protocol } = this.#base;
    const headers = this.#headers(asked, body);
    const options = { hostname, port, path, method: asked.method, headers, agent: this.#agent };
    return new Promise((resolve) => {
      const failed = (error: Error): void => resolve({ status: 0, headers: {}, text: error.message });
      try {
        const request = (protocol === 'https:' ? https : http).request(
          options,
          (response) => void readAnswer(response).then(resolve),
        );
        request.setTimeout(answerTimeoutMs, () => request.destroy(new Error('no answer in time')));
        request.on('error', failed);
        request.end(body);
      } catch (error) {
        failed(error as Error);
      }
    });
  }

  #headers(request: CompareRequest, body: string | undefined): Record<string, string> {
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...this.#authorization(request.user ?? 'server admin'),
    };
    for (const [name, value] of Object.entries(request.headers ?? {})) headers[name] = this.#fill(value);
    for (const name of Object.keys(headers)) if (headers[name] === '') delete headers[name];
    if (body !== undefined || request.method !== 'GET')
      headers['content-length'] = String(Buffer.byteLength(body ?? ''));
    return headers;
  }

  #authorization(user: User): Record<string, string> {
    if (user === 'anonymous') return {};
    const { username, password } = this.#base;
    const pair =
      user === 'server admin'
        ? `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
        : `${userName(user)}:${userPassword}`;
    return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
  }
}

export function bodyText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

async function readAnswer(response: http.IncomingMessage): Promise<Answer> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) headers[name] = String(value);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes <= answerBytesMax) chunks.push(chunk);
    }
  } catch {
    headers['x-cut-off'] = 'yes';
  }
  return { status: response.statusCode ?? 0, headers, text: Buffer.concat(chunks).toString('utf8') };
}
