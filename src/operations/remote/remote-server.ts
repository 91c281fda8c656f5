import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { StartupError } from '../../base/startup-error.js';

/** A server that says nothing for longer is gone. */
const silenceMsMax = 5 * 60_000;

export type Doc = Record<string, unknown> & { _id: string };

/** A server that speaks CouchDB's interface, as commands use it. */
export class RemoteServer {
  /** Without a slash at the end, and without credentials. */
  readonly url: string;
  readonly #authorization: string | undefined;

  constructor(address: string) {
    let url: URL;
    try {
      url = new URL(address);
    } catch {
      throw new StartupError('An address looks like http://NAME:PASSWORD@127.0.0.1:5984.');
    }
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new StartupError('An address begins with http:// or https://.');
    if (url.username !== '') {
      const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
      this.#authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
    }
    url.username = url.password = url.search = url.hash = '';
    this.url = url.href.replace(/\/+$/, '');
  }

  /** What a replication needs to reach a database of this server. */
  endpoint(db: string): { url: string; headers: Record<string, string> } {
    const headers: Record<string, string> =
      this.#authorization === undefined ? {} : { Authorization: this.#authorization };
    return { url: `${this.url}/${encodeURIComponent(db)}`, headers };
  }

  async get<T>(path: string): Promise<T> {
    return (await this.send('GET', path)) as T;
  }

  /** The same; undefined where there is no such thing. */
  async find<T>(path: string): Promise<T | undefined> {
    return (await this.send('GET', path, undefined, [404])) as T | undefined;
  }

  async put(path: string, body?: unknown, accepted: readonly number[] = []): Promise<unknown> {
    return await this.send('PUT', path, body, accepted);
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    return (await this.send('POST', path, body)) as T;
  }

  /** Gives undefined for the statuses that are accepted beside those of success. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    accepted: readonly number[] = [],
  ): Promise<unknown> {
    const { status, content } = await this.#exchange(method, path, body).catch((error: Error) => {
      throw new StartupError(`${this.url} can't be reached: ${error.message}`, { cause: error });
    });
    if (accepted.includes(status)) return undefined;
    if (status >= 300)
      throw new StartupError(
        `${method} ${this.url}${path} was answered ${status}: ${content.trim().slice(0, 500)}`,
      );
    try {
      return JSON.parse(content);
    } catch {
      throw new StartupError(
        `${this.url}${path} did not answer with JSON. Is it a CouchDB or Tuffet server?`,
      );
    }
  }

  /** Unlike `fetch`, it waits as long as it takes for a replication, which is answered when it is over. */
  async #exchange(method: string, path: string, body: unknown): Promise<{ status: number; content: string }> {
    const { request } = this.url.startsWith('https:') ? https : http;
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      ...(this.#authorization === undefined ? {} : { authorization: this.#authorization }),
    };
    const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const sent = request(this.url + path, { method, headers }, resolve).on('error', reject);
      if (path !== '/_replicate')
        sent.setTimeout(silenceMsMax, () => sent.destroy(new Error('it does not answer')));
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
    return { status: answer.statusCode!, content: await text(answer) };
  }
}

/** Splits the address of a database into its server and its name. */
export function databaseAt(address: string): { server: RemoteServer; db: string } {
  const slash = address.replace(/\/+$/, '').lastIndexOf('/');
  const db = decodeURIComponent(address.slice(slash + 1).replace(/\/+$/, ''));
  const before = address.slice(0, slash);
  if (db === '' || !/^https?:\/\/[^/]/.test(before))
    throw new StartupError(
      'The address of a database looks like http://NAME:PASSWORD@127.0.0.1:5984/DATABASE.',
    );
  return { server: new RemoteServer(before), db };
}

export const pathOf = (db: string): string => `/${encodeURIComponent(db)}`;

/** The path of a document, whose kind keeps its slash. */
export function docPath(db: string, id: string): string {
  const [, kind = '', rest = ''] = /^(_local\/|_design\/)?(.*)$/s.exec(id)!;
  return `${pathOf(db)}/${kind}${encodeURIComponent(rest)}`;
}
