import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { randomNumbers } from '../../bench/documents.js';
import { authorization, percentile, ServerProcess } from './server-process.js';

const clients = 50;
const seconds = 20;
const databases = ['apples', 'pears', 'plums', 'quinces'];
const documentsOfClient = 40;
/** Documents whose revision a client remembers. */
const savedMax = 300;

interface Answer {
  status: number;
  text: string;
}

/** Latencies and statuses of all requests, by what they were for. */
class Tally {
  readonly #times = new Map<string, number[]>();
  readonly failures: string[] = [];

  add(kind: string, ms: number, { status, text }: Answer): void {
    const times = this.#times.get(kind) ?? [];
    this.#times.set(kind, times);
    times.push(ms);
    if (status >= 500) this.failures.push(`${kind}: ${status} ${text.slice(0, 200)}`);
  }

  print(): void {
    for (const [kind, times] of this.#times) {
      const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
      const most = times.reduce((a, b) => Math.max(a, b));
      const count = String(times.length).padStart(6);
      console.log(`${kind.padEnd(8)} ${count}  p50 ${ms(p50)}  p99 ${ms(p99)}  longest ${ms(most)}`);
    }
    console.log(
      `${[...this.#times.values()].reduce((sum, { length }) => sum + length, 0)} requests in ${seconds} s`,
    );
  }
}

const ms = (value: number): string => `${value.toFixed(1).padStart(7)} ms`;

/** One client: its documents are its own, so it knows the revision that each must have. */
class Client {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  readonly #random: () => number;
  /** By path; undefined when the document was deleted. */
  readonly saved = new Map<string, string | undefined>();

  constructor(
    private readonly server: ServerProcess,
    private readonly tally: Tally,
    private readonly number: number,
  ) {
    this.#random = randomNumbers(number + 1);
  }

  async run(): Promise<void> {
    const until = Date.now() + seconds * 1000;
    while (Date.now() < until) await this.#step();
  }

  close(): void {
    this.#agent.destroy();
  }

  async #step(): Promise<void> {
    const chance = this.#random();
    const db = this.#pick(databases);
    if (chance < 0.35) await this.#read();
    else if (chance < 0.65) await this.#save(db);
    else if (chance < 0.7) await this.#remove();
    else if (chance < 0.8) await this.#bulk(db);
    else if (chance < 0.9)
      await this.ask('page', 'GET', `/${db}/_all_docs?limit=20&startkey="${this.#id(db)}"`);
    else if (chance < 0.95) await this.ask('list', 'GET', `/${db}/_all_docs?include_docs=true&limit=500`);
    else if (chance < 0.998) await this.ask('info', 'GET', `/${db}`);
    else await this.ask('compact', 'POST', `/${db}/_compact`, '{}');
  }

  async #read(): Promise<void> {
    const path = this.#known();
    if (path === undefined) return;
    const { status, text } = await this.ask('get', 'GET', path);
    assert.equal(status, 200, `${path}: ${text}`);
    assert.equal((JSON.parse(text) as { _rev: string })._rev, this.saved.get(path));
  }

  async #save(db: string): Promise<void> {
    const path = `/${db}/${this.#id(db)}`;
    const body = JSON.stringify({
      _rev: this.saved.get(path),
      client: this.number,
      at: Date.now(),
      note: 'x'.repeat(300),
    });
    const { status, text } = await this.ask('put', 'PUT', path, body);
    assert.equal(status, 201, `${path}: ${text}`);
    this.saved.set(path, (JSON.parse(text) as { rev: string }).rev);
  }

  async #remove(): Promise<void> {
    const path = this.#known();
    if (path === undefined) return;
    const { status, text } = await this.ask('delete', 'DELETE', `${path}?rev=${this.saved.get(path)}`);
    assert.equal(status, 200, `${path}: ${text}`);
    this.saved.set(path, undefined);
  }

  async #bulk(db: string): Promise<void> {
    const docs = Array.from({ length: 20 }, (_, at) => ({ client: this.number, at, note: 'y'.repeat(200) }));
    const { status, text } = await this.ask('bulk', 'POST', `/${db}/_bulk_docs`, JSON.stringify({ docs }));
    assert.equal(status, 201, text);
    for (const { id, rev } of JSON.parse(text) as { id: string; rev: string }[]) {
      if (this.saved.size < savedMax) this.saved.set(`/${db}/${id}`, rev);
    }
  }

  async ask(kind: string, method: string, path: string, body = ''): Promise<Answer> {
    const started = performance.now();
    const answer = await new Promise<Answer>((resolve, reject) => {
      const headers = {
        authorization,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
      };
      const url = this.server.url + path.replaceAll('"', '%22');
      const request = http.request(url, { method, agent: this.#agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => (text += piece));
        response.on('end', () => resolve({ status: response.statusCode!, text }));
      });
      request.on('error', reject);
      request.end(body);
    });
    this.tally.add(kind, performance.now() - started, answer);
    return answer;
  }

  #id(db: string): string {
    return `${db}-${this.number}-${Math.floor(this.#random() * documentsOfClient)}`;
  }

  /** A document that exists. */
  #known(): string | undefined {
    const path = this.#pick([...this.saved.keys()]);
    return path !== undefined && this.saved.get(path) !== undefined ? path : undefined;
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }
}

test('fifty clients at once get no failure and find what they saved', async (t) => {
  const server = await ServerProcess.start(t);
  for (const name of databases) await server.createDatabase(name);
  const tally = new Tally();
  const all = Array.from({ length: clients }, (_, number) => new Client(server, tally, number));
  await Promise.all(all.map((client) => client.run()));
  tally.print();
  assert.deepEqual(tally.failures.slice(0, 5), []);

  for (const client of all) {
    for (const [path, rev] of client.saved) {
      const { status, text } = await client.ask('check', 'GET', path);
      assert.equal(status, rev === undefined ? 404 : 200, path);
      if (rev !== undefined) assert.equal((JSON.parse(text) as { _rev: string })._rev, rev, path);
    }
    client.close();
  }
});
