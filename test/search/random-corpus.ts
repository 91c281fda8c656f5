import assert from 'node:assert/strict';
import { assertOk } from '../support/expect.js';
import type { HttpClient } from '../support/http-client.js';
import type { NaiveDoc, NaiveQuery } from './naive-search.js';

const letters = 'abcd';
export const vocabulary = [...letters]
  .flatMap((a) => [...letters].map((b) => `${a}${b}`))
  .concat(['aaa', 'abc', 'cab', 'dcd']);
const kinds = ['red', 'green', 'blue'];
const tags = ['new', 'old', 'odd', 'even'];

export type Random = () => number;

/** The same numbers for the same seed. */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export const corpusIndex = {
  analyzer: 'whitespace',
  index: `function (doc) {
    index('default', doc.words.join(' '));
    index('number', doc.number);
    index('kind', doc.kind, { facet: true });
    doc.tags.forEach(function (tag) { index('tag', tag, { facet: true }); });
  }`,
};

export interface Hit {
  id: string;
  order: (number | string)[];
}

/** Random documents in a database, and what they are. Ids stand behind a prefix, such as that of a partition. */
export class RandomCorpus {
  readonly docs = new Map<string, NaiveDoc>();
  readonly #revs = new Map<string, string>();

  constructor(
    public client: HttpClient,
    readonly db: string,
    readonly random: Random,
    private readonly prefix = '',
  ) {}

  /** Saves, deletes and purges some documents. */
  async change(count: number, among = 120): Promise<void> {
    const ids = new Set(
      Array.from({ length: count }, () => `${this.prefix}doc${Math.floor(this.random() * among)}`),
    );
    const made = new Map([...ids].map((id) => [id, this.#isKnownAnd(id, 0.2) ? undefined : this.#newDoc()]));
    const body = [...made].map(([_id, doc]) => ({
      _id,
      ...(this.#revs.has(_id) && { _rev: this.#revs.get(_id) }),
      ...(doc ?? { _deleted: true }),
    }));
    const saved = await this.client.post(`${this.db}/_bulk_docs`, { docs: body });
    assertOk(saved, 201);
    for (const { id, rev } of saved.body as { id: string; rev: string }[]) this.#keep(id, rev, made.get(id));
    await this.#purge();
  }

  #isKnownAnd(id: string, probability: number): boolean {
    return this.#revs.has(id) && this.random() < probability;
  }

  async #purge(): Promise<void> {
    const ids = [...this.docs.keys()].filter(() => this.random() < 0.03);
    if (ids.length === 0) return;
    const purges = Object.fromEntries(ids.map((id) => [id, [this.#revs.get(id)]]));
    assertOk(await this.client.post(`${this.db}/_purge`, purges), 201);
    for (const id of ids) this.#keep(id, '', undefined);
  }

  #keep(id: string, rev: string, doc: NaiveDoc | undefined): void {
    if (doc === undefined) {
      this.docs.delete(id);
      this.#revs.delete(id);
    } else {
      this.docs.set(id, doc);
      this.#revs.set(id, rev);
    }
  }

  #newDoc(): NaiveDoc {
    const pick = <T>(list: readonly T[]): T => list[Math.floor(this.random() * list.length)]!;
    return {
      words: Array.from({ length: 1 + Math.floor(this.random() * 12) }, () => pick(vocabulary)),
      number: Math.floor(this.random() * 30) - 10,
      kind: pick(kinds),
      tags: tags.filter(() => this.random() < 0.3),
    };
  }

  /** What a query finds, by looking at every document. */
  found(query: NaiveQuery): { id: string; score: number; doc: NaiveDoc }[] {
    return [...this.docs].flatMap(([id, doc]) => {
      const score = query.score(doc, this.docs);
      return score === undefined ? [] : [{ id, score, doc }];
    });
  }

  /** Compares hits by relevance with those of a look at every document: the same, with the same scores, in this order. */
  checkHits(query: NaiveQuery, hits: readonly Hit[], total: unknown): void {
    const expected = this.found(query);
    assert.equal(total, expected.length, query.text);
    const ids = expected.map(({ id }) => id);
    assert.deepEqual(hits.map(({ id }) => id).sort(), ids.sort(), query.text);
    const scores = new Map(expected.map(({ id, score }) => [id, score]));
    for (const [at, { id, order }] of hits.entries()) {
      const [score, before] = [order[0] as number, hits[at - 1]?.order[0] as number | undefined];
      const close = Math.abs(score - scores.get(id)!) < 1e-9;
      assert.ok(close, `${query.text}: ${id} ${score} ${scores.get(id)}`);
      assert.ok(before === undefined || before >= score, query.text);
    }
  }
}

/** How many documents have each value, without those that none has. */
export function countsOf(
  found: readonly { doc: NaiveDoc }[],
  valuesOf: (doc: NaiveDoc) => readonly string[],
): object {
  const counts = new Map<string, number>();
  for (const { doc } of found)
    for (const value of valuesOf(doc)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
