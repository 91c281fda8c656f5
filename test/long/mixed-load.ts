import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { Random } from '../model/random.js';
import { H2Client } from '../support/h2-client.js';
import { HttpClient, type Answer } from '../support/http-client.js';
import { Ledger, type Outcome } from './ledger.js';
import type { ServerProcess } from './server-process.js';

const bulkDocs = 20;
const answersWithinMs = 10_000;
const views = {
  v: { map: "function(doc){ if (typeof doc.n === 'number') emit(doc.n, 1); }", reduce: '_count' },
};

/** Also in a partitioned database the view is one of all documents. */
const options = { partitioned: false };

interface Answered {
  status: number;
  body: unknown;
}

/** One way to send a request; rejects where no answer came. */
type Send = (method: string, path: string, body?: object | Buffer) => Promise<Answered>;

/** Databases of different kinds; `prefix` gives ids of a partitioned one their partition. */
const databases = [
  { name: 'plain', query: '?q=2', prefix: '' },
  { name: 'parts', query: '?q=2&partitioned=true', prefix: 'part:' },
] as const;

/** Clients that write, read, compact and replicate all at once, and know what must be there afterwards. */
export class MixedLoad {
  readonly #ledgers = new Map<string, Ledger>(databases.map(({ name }) => [name, new Ledger()]));
  /** The digest of each attachment, by document. */
  readonly #digests = new Map<string, string>();
  readonly statuses = new Map<number, number>();
  #next = 0;
  #answers = 0;
  #running = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly server: ServerProcess,
    private readonly random: Random,
    /** Bytes of a document at most. */
    private readonly docBytesMax: number,
  ) {}

  async setUp(): Promise<void> {
    const client = new HttpClient(this.server.url);
    for (const { name, query } of databases) {
      assert.equal((await client.put(`/${name}${query}`)).status, 201);
      assert.equal((await client.put(`/${name}/_design/d`, { views, options })).status, 201);
    }
  }

  /** All clients begin, and go on until `stop`, or until the server is gone. */
  start(): void {
    this.#running = true;
    const http = this.#over(new HttpClient(this.server.url));
    const h2 = new H2Client(this.server.tlsUrl);
    const overH2 = this.#overH2(h2);
    this.#work = Promise.all([
      this.#repeat(() => this.#edit(http, 'plain')),
      this.#repeat(() => this.#edit(overH2, 'parts')),
      this.#repeat(() => this.#bulk(http, 'parts')),
      this.#repeat(() => this.#bulk(overH2, 'plain')),
      this.#repeat(() => this.#attach(http, 'plain')),
      this.#repeat(() => this.#purge(overH2, 'plain')),
      this.#repeat(() => this.#upkeep(http)),
    ]).finally(() => h2.session.destroy());
  }

  /** Resolves when so many more answers have come, however busy the machine is, or after a few seconds. */
  async answers(count: number): Promise<void> {
    const wanted = this.#answers + count;
    for (const end = Date.now() + answersWithinMs; this.#answers < wanted && Date.now() < end;)
      await new Promise((resolve) => setTimeout(resolve, 5));
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#running = false;
    await this.#work;
  }

  /** What was acknowledged is there, what was refused is not, and the views say the same. */
  async check(): Promise<void> {
    const client = new HttpClient(this.server.url);
    for (const { name } of databases) {
      const { status, body, text } = await patiently(client, `/${name}/_all_docs?include_docs=true`);
      assert.equal(status, 200, text.slice(0, 300));
      const docs = (body.rows as { doc: { _id: string; _rev: string; n: number; _attachments?: object } }[])
        .map(({ doc }) => doc)
        .filter(({ _id }) => !_id.startsWith('_design'));
      const found = new Map(docs.map(({ _id, _rev, n }) => [_id, { n, rev: _rev }]));
      this.#ledgers.get(name)!.check(found, name);
      const view = await patiently(client, `/${name}/_design/d/_view/v`);
      assert.equal(view.status, 200, view.text);
      assert.equal(view.body.rows[0]?.value ?? 0, found.size, `the view of ${name}`);
      if (name === 'plain') await this.#checkAttachments(docs.filter(({ _attachments }) => _attachments));
    }
  }

  get figures(): string {
    const sum = (of: (ledger: Ledger) => number): number =>
      [...this.#ledgers.values()].reduce((total, each) => total + of(each), 0);
    const statuses = [...this.statuses].sort(([a], [b]) => a - b).map(([status, n]) => `${status}: ${n}`);
    return (
      `${sum((each) => each.acknowledged)} writes acknowledged, ${sum((each) => each.refused)} refused, ` +
      `${sum((each) => each.doubtful)} in doubt; answers ${statuses.join(', ')}`
    );
  }

  async #checkAttachments(docs: readonly { _id: string }[]): Promise<void> {
    for (let i = 0; i < Math.min(5, docs.length); i++) {
      const { _id } = this.random.pick(docs);
      const { status, raw } = await this.#download(`/plain/${_id}/a`);
      assert.equal(status, 200);
      assert.equal(md5(raw), this.#digests.get(_id), `the attachment of ${_id}`);
    }
  }

  async #download(path: string): Promise<{ status: number; raw: Buffer }> {
    const h2 = new H2Client(this.server.tlsUrl);
    const answer = await h2.send('GET', path);
    await h2.close();
    return answer;
  }

  async #repeat(step: () => Promise<void>): Promise<void> {
    while (this.#running) {
      try {
        await step();
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        if (!this.server.isRunning) return;
      }
      await new Promise((resolve) => setTimeout(resolve, this.random.below(4)));
    }
  }

  #over(client: HttpClient): Send {
    return async (method, path, body) => {
      const content = Buffer.isBuffer(body)
        ? { raw: body, headers: { 'content-type': 'application/octet-stream' } }
        : { json: body };
      const answer = await client.send(method, path, content);
      return this.#count({ status: answer.status, body: answer.body as unknown });
    };
  }

  #overH2(client: H2Client): Send {
    return async (method, path, body) => {
      const type = Buffer.isBuffer(body) ? 'application/octet-stream' : 'application/json';
      const payload = body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      const { status, text } = await client.send(method, path, { 'content-type': type }, payload);
      return this.#count({ status, body: text === '' ? undefined : (JSON.parse(text) as unknown) });
    };
  }

  #count(answer: Answered): Answered {
    this.#answers++;
    this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
    const text = JSON.stringify(answer.body)?.slice(0, 300);
    assert.ok(answer.status !== 500, `an answer is 500 ${text}`);
    return answer;
  }

  #newId(database: string): string {
    return `${databases.find(({ name }) => name === database)!.prefix}${this.#next++}`;
  }

  #body(): { n: number; pad: string } {
    return { n: this.#next++, pad: 'x'.repeat(this.random.below(this.docBytesMax)) };
  }

  /** Makes a document, or changes or deletes one. */
  async #edit(send: Send, database: string): Promise<void> {
    const ledger = this.#ledgers.get(database)!;
    const known = this.random.oneIn(2) ? ledger.settled((ids) => this.random.pick(ids)) : undefined;
    const id = known?.id ?? this.#newId(database);
    if (this.#digests.has(id)) return;
    const body = this.#body();
    const path = `/${database}/${encodeURIComponent(id)}${known === undefined ? '' : `?rev=${known.rev}`}`;
    if (known !== undefined && this.random.oneIn(3)) {
      const end = ledger.begin(id, undefined);
      const outcome = await outcomeOf(send('DELETE', path));
      end(isStored(outcome) ? { rev: undefined } : outcome);
    } else {
      const end = ledger.begin(id, body.n);
      end(await outcomeOf(send('PUT', path, body)));
    }
  }

  async #bulk(send: Send, database: string): Promise<void> {
    const ledger = this.#ledgers.get(database)!;
    const docs = Array.from({ length: bulkDocs }, () => ({ _id: this.#newId(database), ...this.#body() }));
    const ends = docs.map(({ _id, n }) => ledger.begin(_id, n));
    let outcomes: Outcome[] = docs.map(() => 'in doubt');
    try {
      const { status, body } = await send('POST', `/${database}/_bulk_docs`, { docs });
      const rows = body as { rev?: string }[];
      outcomes = docs.map((_, i) =>
        status === 201 && rows[i]!.rev ? { rev: rows[i]!.rev } : { refused: JSON.stringify(body) },
      );
    } finally {
      for (const [i, end] of ends.entries()) end(outcomes[i]!);
    }
  }

  /** A document of an attachment alone has no number: it gets one with its attachment. */
  async #attach(send: Send, database: string): Promise<void> {
    const bytes = randomBytes(20_000 + this.random.below(60_000));
    const id = `attached-${this.#newId(database)}`;
    const n = this.#next++;
    this.#digests.set(id, md5(bytes));
    const end = this.#ledgers.get(database)!.begin(id, n);
    const attachment = { content_type: 'application/octet-stream', data: bytes.toString('base64') };
    end(await outcomeOf(send('PUT', `/${database}/${id}`, { n, _attachments: { a: attachment } })));
  }

  async #purge(send: Send, database: string): Promise<void> {
    const ledger = this.#ledgers.get(database)!;
    const id = this.#newId(database);
    const { n } = this.#body();
    const made = await outcomeOf(send('PUT', `/${database}/${id}`, { n }));
    ledger.begin(id, n)(made);
    if (!isStored(made)) return;
    const end = ledger.begin(id, undefined);
    let outcome: Outcome = 'in doubt';
    try {
      const { status, body } = await send('POST', `/${database}/_purge`, { [id]: [made.rev] });
      const { purged } = body as { purged?: Record<string, { purged: string[] }> };
      outcome =
        status === 201 && purged![id]!.purged.length > 0
          ? { rev: undefined }
          : { refused: JSON.stringify(body) };
    } finally {
      end(outcome);
    }
  }

  /** Views, queries, compaction and replication, whose answers depend on the disk. */
  async #upkeep(send: Send): Promise<void> {
    const { name } = this.random.pick(databases);
    const selector = { n: { $gt: 0 } };
    const requests: [string, string, object?][] = [
      ['GET', `/${name}/_design/d/_view/v`],
      ['GET', `/${name}/_all_docs?limit=10`],
      ['POST', `/${name}/_find`, { selector, limit: 5 }],
      ['POST', `/${name}/_compact`, {}],
      ['POST', `/${name}/_compact/d`, {}],
      ['PUT', `/churn-${this.#next++}`],
      ['POST', '/_replicate', { source: name, target: `copy-of-${name}`, create_target: true }],
    ];
    // Replication has failures of its own to tell, with a status of CouchDB's choice.
    const [method, path, body] = this.random.pick(requests);
    if (path !== '/_replicate') await send(method, path, body);
    else await new HttpClient(this.server.url).post(path, body);
    if (path.startsWith('/churn')) await send('DELETE', path);
  }
}

/** A store that is opened again after an error answers 503 for that moment. */
async function patiently(client: HttpClient, path: string): Promise<Answer> {
  for (const end = Date.now() + answersWithinMs; ;) {
    const answer = await client.get(path);
    if (answer.status !== 503 || Date.now() > end) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const isStored = (outcome: Outcome): outcome is { rev: string | undefined } =>
  outcome !== 'in doubt' && 'rev' in outcome;

async function outcomeOf(sent: Promise<Answered>): Promise<Outcome> {
  let answer: Answered;
  try {
    answer = await sent;
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return 'in doubt';
  }
  if (answer.status >= 300) return { refused: JSON.stringify(answer.body) };
  return { rev: (answer.body as { rev: string }).rev };
}

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');
