import assert from 'node:assert/strict';
import { asBytes, toBytes, type Bytes } from '../../src/base/bytes.js';
import type { DatabaseRegistry } from '../../src/node/database-registry.js';
import { compact } from '../../src/node/compact.js';
import type { Database } from '../../src/node/database.js';
import { Listing } from '../../src/documents/list-docs.js';
import { purgeDocs } from '../../src/documents/purge-docs.js';
import { knownId } from '../../src/shard/doc-id.js';
import { plainInput, type NamedInput } from '../../src/shard/document-input.js';
import { updateDocs } from '../../src/documents/update-docs.js';
import { allIds } from '../../src/shard/group-reader.js';
import { checkDatabase } from './check-database.js';
import { DocModel, keyOf, type Made, type Rev } from './doc-model.js';
import type { Random } from './random.js';

/** Shards of the database. */
export const q = 3;
export const ids: Bytes[] = [
  ...Array.from({ length: 16 }, (_, i) => asBytes(`doc-${i}`)),
  asBytes('_design/d'),
  toBytes('ä😀\u0001"\\'),
  asBytes('long-'.repeat(600)),
  asBytes(`${'long-'.repeat(600)}b`),
];

/** A database, what it should hold, and everything that ever happened to its documents anywhere. */
export class World {
  readonly models = new Map(ids.map((id) => [id, new DocModel()]));
  readonly made = new Map(ids.map((id) => [id, new Map<string, Made>()]));
  readonly locals = new Map<Bytes, { rev: number; body: Bytes }>();
  seq = 0;
  purges = 0;
  #bodies = 0;

  constructor(
    readonly registry: DatabaseRegistry,
    readonly database: Database,
    readonly random: Random,
  ) {}

  body(): string {
    const size = this.random.pick([0, 10, 100, 1_000, 1_030, 5_000]);
    return `{"n":${++this.#bodies},"pad":"${'x'.repeat(size)}"}`;
  }

  /** Some documents, each once. */
  some(): Bytes[] {
    return [...new Set(Array.from({ length: 1 + this.random.below(4) }, () => this.random.pick(ids)))];
  }

  input(id: Bytes, rest: Partial<NamedInput>): NamedInput {
    return { ...plainInput(knownId(id), undefined, asBytes('{}')), ...rest };
  }

  async edit(): Promise<void> {
    const inputs = this.some().map((id) => {
      const model = this.models.get(id)!;
      const leaves = model.leaves();
      const wrong = this.random.oneIn(8) ? [...model.inner(), { pos: 1, hash: 'unknown' }] : [];
      const rev =
        this.random.oneIn(8) || leaves.length === 0 ? undefined : this.random.pick([...leaves, ...wrong]);
      const deleted = this.random.oneIn(4);
      const usual =
        leaves[0]?.deleted && !this.random.oneIn(4) ? { rev: undefined, deleted: false } : { rev, deleted };
      return this.input(id, { ...usual, body: asBytes(this.body()) });
    });
    const saved = await updateDocs(this.database, inputs, true);
    for (const [at, { id, rev, deleted, body }] of inputs.entries()) {
      const model = this.models.get(id)!;
      const continued = model.continued(rev, deleted);
      const now = saved[at];
      assert.ok(now !== 'missing_blob' && now !== 'retry');
      assert.equal(now === undefined, continued === undefined, 'a conflict');
      if (now === undefined || continued === undefined) continue;
      assert.ok('pos' in now);
      const parent = continued === 'new' ? undefined : keyOf(continued);
      assert.equal(now.pos, continued === 'new' ? 1 : continued.pos + 1);
      const made = { pos: now.pos, hash: now.hash, parent, deleted, body };
      this.made.get(id)!.set(keyOf(now), made);
      model.edit(made, this.database.revsLimit);
      this.seq++;
    }
  }

  /** A history of what happened elsewhere, or is known already, often cut short. */
  history(id: Bytes): Made[] {
    const made = this.made.get(id)!;
    let key = made.size > 0 && !this.random.oneIn(6) ? this.random.pick([...made.keys()]) : undefined;
    for (let left = this.random.below(4); left > 0 || key === undefined; left--) {
      const pos: number = key === undefined ? 1 : made.get(key)!.pos + 1;
      const hash = this.random.pick([this.random.hex(32), this.random.hex(3), `é${this.random.hex(2)}`]);
      const next = { pos, hash, parent: key, deleted: this.random.oneIn(4), body: this.body() };
      key = keyOf(next);
      if (!made.has(key)) made.set(key, next);
    }
    const history: Made[] = [];
    for (let at: string | undefined = key; at !== undefined; at = made.get(at)!.parent)
      history.push(made.get(at)!);
    return history.slice(0, this.random.oneIn(2) ? history.length : 1 + this.random.below(history.length));
  }

  async merge(): Promise<void> {
    const histories = this.some().map((id) => ({ id, history: this.history(id) }));
    const inputs = histories.map(({ id, history: [newest, ...rest] }) => {
      const revisions = { start: newest!.pos, hashes: [newest!, ...rest].map(({ hash }) => hash) };
      return this.input(id, { revisions, deleted: newest!.deleted, body: asBytes(newest!.body) });
    });
    await updateDocs(this.database, inputs, false);
    for (const { id, history } of histories) {
      if (this.models.get(id)!.merge(history, this.database.revsLimit)) this.seq++;
    }
  }

  async purge(): Promise<void> {
    const requests = this.some().map((id) => {
      const model = this.models.get(id)!;
      const known: Rev[] = [
        ...model.leaves(),
        ...model.leaves(),
        ...model.inner(),
        { pos: 9, hash: 'unknown' },
      ];
      const revs = Array.from({ length: 1 + this.random.below(3) }, () => this.random.pick(known));
      return { id, revs: revs.map(({ pos, hash }) => ({ pos, hash })) };
    });
    const removed = await purgeDocs(this.database, requests);
    for (const [at, { id, revs }] of requests.entries()) {
      const expected = this.models.get(id)!.purge(revs);
      assert.deepEqual(new Set(removed[at]!.map(keyOf)), new Set(expected.map(keyOf)));
      this.purges++;
      if (expected.length > 0) this.seq++;
    }
  }

  async compact(): Promise<void> {
    await compact(this.registry, this.database);
    for (const model of this.models.values()) model.compact();
  }

  async local(): Promise<void> {
    const id = asBytes(`_local/${this.random.pick(['a', 'b', 'c'.repeat(2_500)])}`);
    const old = this.locals.get(id);
    const deleted = this.random.oneIn(4);
    const body = asBytes(this.body());
    const rev = old && { pos: 0, hash: String(old.rev) };
    await updateDocs(this.database, [this.input(id, { rev, deleted, body })], true);
    if (deleted) this.locals.delete(id);
    else this.locals.set(id, { rev: (old?.rev ?? 0) + 1, body });
  }

  async limit(): Promise<void> {
    await this.registry.setDatabase(this.database, { revs_limit: this.random.pick([1, 2, 3, 5, 1_000]) });
    await this.registry.setDatabase(this.database, { purged_infos_limit: this.random.pick([1, 5, 1_000]) });
  }

  step(): Promise<void> {
    const at = this.random.below(100);
    if (at < 40) return this.edit();
    if (at < 75) return this.merge();
    if (at < 85) return this.purge();
    if (at < 95) return this.local();
    return at < 98 ? this.limit() : this.compact();
  }

  checkCounters(): void {
    const counts = [...this.models.values()].map(({ countsAsLive }) => countsAsLive);
    assert.equal(
      this.database.total('doc_count'),
      counts.filter((live) => live === true).length,
      'doc_count',
    );
    assert.equal(
      this.database.total('doc_del_count'),
      counts.filter((live) => live === false).length,
      'doc_del_count',
    );
    assert.equal(this.database.total('seq'), this.seq, 'every change has a sequence');
    assert.equal(this.database.total('purge_seq'), this.purges);
  }

  async checkAll(): Promise<void> {
    const { collection, record } = this.database;
    const scan = checkDatabase((slot) => this.registry.volumes()[slot]!.store, record);
    assert.deepEqual(scan.states, collection.states, 'what readers have been told is what is stored');
    const listed = [...this.models].filter(([, model]) => model.exists).map(([id]) => id);
    assert.deepEqual([...scan.docs.keys()].sort(), listed.sort());
    for (const [id, { rev, body }] of this.locals) {
      assert.deepEqual(collection.local(id) && { ...collection.local(id)!, longId: undefined }, {
        rev,
        body,
        longId: undefined,
      });
    }
    await checkRank(this.database);
  }
}

/** Offsets equal those of a count from the beginning. */
async function checkRank(database: Database): Promise<void> {
  const { collection } = database;
  await collection.ranked();
  const all = collection.docs('live', { ...allIds, limit: Infinity });
  for (const [at, { key }] of all.entries()) {
    assert.equal(collection.docsBefore(key), at);
    assert.equal(collection.docsBefore(asBytes(`${key}\0`)), at + 1);
  }
  const query = {
    inclusiveEnd: true,
    descending: false,
    skip: 2,
    limit: 5,
    includeDocs: true,
    conflicts: true,
    attachments: false,
    encodingInfo: false,
  };
  const listing = new Listing(database, 'all', query);
  assert.equal(listing.offset(), Math.min(2, all.length));
  const rows = JSON.parse(
    Buffer.from(`[${[...listing.pieces()].join('')}]`, 'latin1').toString(),
  ) as unknown[];
  assert.equal(rows.length, Math.min(5, Math.max(0, all.length - 2)));
}
