import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, type Bytes } from '../../src/base/bytes.js';
import { Database } from '../../src/node/database.js';
import { purgeDocs } from '../../src/documents/purge-docs.js';
import { knownId } from '../../src/shard/doc-id.js';
import { plainInput, type NamedInput } from '../../src/shard/document-input.js';
import { updateDocs } from '../../src/documents/update-docs.js';
import type { Rev } from '../../src/revisions/rev.js';
import { Collection } from '../../src/shard/collection.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import { Volume } from '../../src/shard/volume.js';
import { checkDatabase } from '../model/check-database.js';
import { Random, seed } from '../model/random.js';
import { ForgetfulStore } from './forgetful-store.js';

const lives = 12;
const killsPerLife = 8;
const writers = 6;
const record = { instance: 1, slot: 0, q: 3 };

/** One run of the server's inner part on a store, from opening to kill. */
class Run {
  readonly database: Database;
  readonly #death = deferred();
  #killed = false;

  constructor(
    readonly store: ForgetfulStore,
    readonly random: Random,
  ) {
    const keys = new DatabaseKeys(record.instance);
    const volume = new Volume(0, store, (touched) => {
      for (const each of touched) {
        for (const shard of each.states.keys()) {
          assert.ok(store.isSafe(keys.state(shard)), 'readers are told of nothing that may be lost');
        }
        collection.publish(each);
      }
    });
    const collection = new Collection(volume, record.instance, record.q);
    this.database = new Database('db', record, collection);
  }

  /** Whether the work was answered before the kill. What is under way then is never answered. */
  async answered<T>(work: Promise<T>): Promise<T | undefined> {
    const result = await Promise.race([work, this.#death.promise]);
    return this.#killed ? undefined : (result as T);
  }

  kill(): ForgetfulStore {
    this.#killed = true;
    this.#death.resolve(undefined);
    return this.store.kill();
  }

  get isDead(): boolean {
    return this.#killed;
  }
}

function deferred(): { promise: Promise<undefined>; resolve: (value: undefined) => void } {
  let resolve!: (value: undefined) => void;
  const promise = new Promise<undefined>((resolveIt) => (resolve = resolveIt));
  return { promise, resolve };
}

type Last = { rev: Rev; deleted: boolean } | 'purged' | undefined;

/** Writes to documents of its own, and remembers of each the last outcome that was answered and the one that was not. */
class Writer {
  readonly acknowledged = new Map<string, Last>();
  #inDoubt: Bytes | undefined;
  #count = 0;

  constructor(
    private readonly name: string,
    private readonly random: Random,
  ) {}

  async write(run: Run): Promise<void> {
    while (!run.isDead) {
      const id = asBytes(`${this.name}-${this.random.below(12)}`);
      const last = this.acknowledged.get(id);
      this.#inDoubt = id;
      const known = last === 'purged' ? undefined : last;
      if (known !== undefined && this.random.oneIn(10)) {
        const removed = await run.answered(purgeDocs(run.database, [{ id, revs: [known.rev] }]));
        if (removed === undefined) return;
        assert.equal(removed[0]!.length, 1);
        this.acknowledged.set(id, 'purged');
      } else {
        const input = this.#edit(id, known);
        const saved = await run.answered(updateDocs(run.database, [input], true));
        if (saved === undefined) return;
        const [rev] = saved;
        assert.ok(typeof rev === 'object' && 'pos' in rev, `${id}: nobody else writes here`);
        this.acknowledged.set(id, {
          rev: { pos: rev.pos, hash: rev.hash },
          deleted: input.deleted,
        });
      }
      this.#inDoubt = undefined;
    }
  }

  /** Everything answered is there; the request in doubt is settled by what is found. */
  check({ collection }: Database): void {
    for (const [id, last] of this.acknowledged) {
      const found = collection.doc(asBytes(id));
      const now: Last = found && { rev: found.rev, deleted: found.deleted };
      if (id === this.#inDoubt) this.acknowledged.set(id, now);
      else assert.deepEqual(now, last === 'purged' ? undefined : last, `${id}`);
    }
    const id = this.#inDoubt;
    if (id !== undefined && !this.acknowledged.has(id)) {
      const found = collection.doc(id);
      this.acknowledged.set(id, found && { rev: found.rev, deleted: found.deleted });
    }
    this.#inDoubt = undefined;
  }

  #edit(id: string, known: { rev: Rev; deleted: boolean } | undefined): NamedInput {
    const again = known === undefined || known.deleted;
    const body = asBytes(`{"n":${++this.#count},"pad":"${'y'.repeat(this.random.pick([0, 500, 2_000]))}"}`);
    const deleted = !again && this.random.oneIn(4);
    return plainInput(knownId(asBytes(id)), again ? undefined : known.rev, body, deleted);
  }
}

test(`a store that forgets what was not flushed loses nothing that was answered (seed ${seed})`, async () => {
  for (let life = 0; life < lives; life++) {
    const random = new Random(seed + life);
    const clients = Array.from({ length: writers }, (_, i) => new Writer(`w${i}`, random));
    let store = new ForgetfulStore(random);
    for (let kill = 0; kill < killsPerLife; kill++) {
      const run = new Run(store, random);
      for (const client of clients) client.check(run.database);
      const working = clients.map((client) => client.write(run));
      await new Promise((resolve) => setTimeout(resolve, random.below(60)));
      store = run.kill();
      await Promise.all(working);
      checkDatabase(() => store, record);
    }
    const end = new Run(store, random);
    for (const client of clients) client.check(end.database);
    assert.ok(clients.some(({ acknowledged }) => acknowledged.size > 0));
  }
});
