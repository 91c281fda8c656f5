import { basic, countDocuments, jsonHeaders, type BenchServer } from './processes.js';

/**
 * A CouchDB that figures are compared with. It is somebody's: databases that are there already are left alone, and those
 * that were created are deleted at the end.
 */
export class ReferenceServer implements BenchServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly authorization: string;
  readonly pid = NaN;
  readonly #created: string[] = [];

  constructor(address: string) {
    const { origin, hostname, port, username, password } = new URL(address);
    this.url = origin;
    this.host = hostname;
    this.port = Number(port === '' ? 80 : port);
    this.authorization = basic(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  }

  async createDatabase(name: string): Promise<void> {
    await this.#change('PUT', `/${name}`);
    this.#created.push(name);
    // Since CouchDB 3, only server admins may use a database that has no security object of its own.
    await this.#change('PUT', `/${name}/_security`, {});
  }

  async documentCount(name: string): Promise<number> {
    return await countDocuments(this.url, name);
  }

  /** Which version it says it is. */
  async version(): Promise<string> {
    const answer = await fetch(this.url, { headers: jsonHeaders(this) });
    return ((await answer.json()) as { version: string }).version;
  }

  async deleteDatabases(): Promise<void> {
    for (const name of this.#created.splice(0)) await this.#change('DELETE', `/${name}`);
  }

  async #change(method: string, to: string, body?: object): Promise<void> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(this.url + to, { method, headers: jsonHeaders(this), ...sent });
    if (!answer.ok)
      throw new Error(
        `${method} ${to} of the reference was answered ${answer.status}: ${await answer.text()}`,
      );
    await answer.arrayBuffer();
  }
}
