import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random, seed } from '../model/random.js';
import { splitAll } from '../reshard/reshard.js';
import type { Answer, HttpClient, RequestOptions } from '../support/http-client.js';
import { startServers } from './servers.js';

const rounds = 4;
const operationsPerRound = 40;
const db = '/db';
const ids = Array.from({ length: 24 }, (_, i) => (i % 8 === 0 ? `ä ${i}` : `doc-${i}`));

const design = {
  _id: '_design/d',
  views: {
    stats: { map: 'function (doc) { emit([doc.kind, doc.n], doc.n); }', reduce: '_stats' },
    names: {
      map: 'function (doc) { for (var name in doc._attachments) emit(name, doc._attachments[name].length); }',
      reduce: '_count',
    },
    largest: {
      map: 'function (doc) { emit(doc.kind, doc.n); }',
      reduce: 'function (keys, values) { return Math.max.apply(null, values); }',
    },
    distinct: { map: 'function (doc) { emit(null, doc.kind); }', reduce: '_approx_count_distinct' },
  },
};

const queries = [
  '_all_docs?include_docs=true&conflicts=true',
  '_all_docs?skip=7&limit=9&descending=true',
  '_all_docs?keys=["doc-1","missing","doc-2","_design/d"]',
  '_local_docs?include_docs=true',
  '_design/d/_view/stats?group=true',
  '_design/d/_view/stats?group_level=1&skip=1',
  '_design/d/_view/stats?reduce=false&start_key=["b"]&limit=11&skip=2&include_docs=true',
  '_design/d/_view/stats?keys=[["a",1],["b",2],["c",3]]&group=true',
  '_design/d/_view/names?group=true',
  '_design/d/_view/names?reduce=false&descending=true',
  '_design/d/_view/largest?group=true&descending=true',
  '_design/d/_view/largest',
  '_design/d/_view/distinct',
];

const finds = [
  { selector: { n: { $gt: 3 } }, sort: [{ kind: 'asc' }, { n: 'asc' }], limit: 1_000 },
  { selector: { kind: 'a' }, sort: [{ kind: 'desc' }, { n: 'desc' }], limit: 1_000, fields: ['_id', 'n'] },
  { selector: { $or: [{ kind: 'b' }, { n: 5 }] }, limit: 6, skip: 2 },
];

interface Change {
  id: string;
  deleted?: boolean;
  changes: { rev: string }[];
}

/** Sends the same to both servers, and expects the same back. */
class Pair {
  /** Where a client of each server has followed the changes to, and the last row of each document. */
  readonly #since = ['0', '0'];
  readonly #seen = [new Map<string, string>(), new Map<string, string>()];

  constructor(
    private readonly clients: readonly [HttpClient, HttpClient],
    private readonly random: Random,
  ) {}

  async send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const [one, three] = await Promise.all(
      this.clients.map((client) => client.send(method, `${db}${path}`, options)),
    );
    assert.equal(three!.status, one!.status, `${method} ${path}: ${three!.text}`);
    assert.equal(three!.text, one!.text, `${method} ${path}`);
    return one!;
  }

  async operate(): Promise<void> {
    const { random } = this;
    const id = random.pick(ids);
    const path = `/${encodeURIComponent(id)}`;
    const found = (await this.send('GET', `${path}?conflicts=true`)).body as Record<string, unknown>;
    const rev = found['_rev'] as string | undefined;
    const named = rev === undefined || random.oneIn(10) ? '' : `?rev=${rev}`;
    const stubs = random.oneIn(2) ? { _attachments: found['_attachments'] ?? {} } : {};
    switch (random.below(9)) {
      case 0:
      case 1:
      case 2:
        return void (await this.send('PUT', `${path}${named}`, { json: { ...this.#body(), ...stubs } }));
      case 3:
        return void (await this.send('DELETE', `${path}${named}`));
      case 4: {
        const raw = Buffer.alloc(random.pick([5, 500, 60_000]), random.below(4));
        return void (await this.send('PUT', `${path}/file-${random.below(3)}${named}`, { raw }));
      }
      case 5:
        return void (await this.send('COPY', path, { headers: { destination: `copy-${random.below(6)}` } }));
      case 6:
        return await this.#merge();
      case 7: {
        const conflicts = (found['_conflicts'] ?? []) as string[];
        const revs = [random.pick([...conflicts, rev ?? '1-abc'])];
        return await this.#purge({ [id]: revs });
      }
      case 8:
        return void (await this.send('PUT', `/_local/l${random.below(5)}`, { json: this.#body() }));
    }
  }

  #body(): object {
    return { kind: this.random.pick(['a', 'b', 'c']), n: this.random.below(9) };
  }

  /** Revisions from elsewhere, which may be conflicts. */
  async #merge(): Promise<void> {
    const docs = Array.from({ length: 1 + this.random.below(4) }, () => ({
      _id: this.random.pick(ids),
      _rev: `${1 + this.random.below(4)}-${this.random.hex(4)}`,
      ...this.#body(),
    }));
    await this.send('POST', '/_bulk_docs', { json: { docs, new_edits: false } });
  }

  /** Its sequence depends on the groups. */
  async #purge(json: object): Promise<void> {
    const answers = await Promise.all(this.clients.map((client) => client.post(`${db}/_purge`, json)));
    assert.deepEqual(answers[1]!.body.purged, answers[0]!.body.purged);
  }

  async check(): Promise<void> {
    for (const query of queries) await this.send('GET', `/${query}`);
    for (const json of finds) {
      const answers = await Promise.all(this.clients.map((client) => client.post(`${db}/_find`, json)));
      assert.equal(answers[0]!.status, 200, answers[0]!.text);
      assert.deepEqual(answers[1]!.body.docs, answers[0]!.body.docs, JSON.stringify(json));
    }
    const [one, three] = await Promise.all([this.#follow(0), this.#follow(1)]);
    assert.deepEqual(three, one, 'the last row of each document');
    await this.#checkAttachments();
  }

  /** Reads the changes since the last time, in pages; gives the last row of each document. */
  async #follow(at: 0 | 1): Promise<[string, string][]> {
    const limit = 5 + this.random.below(20);
    for (;;) {
      const path = `${db}/_changes?style=all_docs&limit=${limit}&since=${this.#since[at]}`;
      const { body } = await this.clients[at].get(path);
      const results = body.results as Change[];
      for (const { id, deleted, changes } of results)
        this.#seen[at]!.set(id, JSON.stringify([deleted, changes]));
      this.#since[at] = body.last_seq as string;
      if (results.length === 0) break;
    }
    const { results } = (await this.clients[at].get(`${db}/_changes?since=${this.#since[at]}`)).body;
    assert.deepEqual(results, []);
    // A document that was purged has no row any more.
    const all = (await this.clients[at].get(`${db}/_changes?style=all_docs`)).body.results as Change[];
    const left = new Map(all.map(({ id, deleted, changes }) => [id, JSON.stringify([deleted, changes])]));
    for (const [id, row] of left) assert.equal(this.#seen[at]!.get(id), row, `the last row of ${id}`);
    return [...left].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  async #checkAttachments(): Promise<void> {
    const { body } = await this.send('GET', '/_all_docs?include_docs=true');
    for (const { id, doc } of body.rows as { id: string; doc: { _attachments?: object } }[]) {
      for (const name of Object.keys(doc._attachments ?? {}))
        await this.send('GET', `/${encodeURIComponent(id)}/${name}`);
    }
  }
}

test(`random operations have the same effect in one group and in three (seed ${seed})`, async () => {
  const clients = await startServers();
  const random = new Random(seed);
  const pair = new Pair([clients.one, clients.three], random);
  await pair.send('PUT', '?q=4');
  await pair.send('PUT', '/_design/d', { json: design });
  await pair.send('POST', '/_index', {
    json: { index: { fields: ['kind', 'n'] }, name: 'kind-n', ddoc: 'i' },
  });
  for (let round = 0; round < rounds; round++) {
    for (let step = 0; step < operationsPerRound; step++) await pair.operate();
    await pair.check();
    if (round === 1) await Promise.all([clients.one, clients.three].map((client) => splitAll(client, db)));
    if (round === 2) await pair.send('POST', '/_compact', { json: {} });
  }
});
