import assert from 'node:assert/strict';
import type { Answer, HttpClient } from '../support/http-client.js';
import type { Random } from '../model/random.js';

/** What a document is: `n` decides on the whole of its body. */
interface Version {
  n: number;
  deleted: boolean;
}

interface Remembered {
  /** The last version the server answered for. */
  acknowledged?: Version & { rev: string };
  /** One that was sent, and whose answer never came. */
  tried?: Version;
}

/** A document as it was found after the restart. */
export interface Found {
  rev: string;
  deleted: boolean;
  /** Absent for deleted documents. */
  doc?: Record<string, unknown>;
}

const sizes = [0, 10, 200, 900, 1_100, 3_000, 9_000];
const bulkDocsMax = 30;

/** All of a body follows from its number, so that one that is half of two versions cannot pass. */
export function bodyOf(n: number): { n: number; pad: string } {
  return { n, pad: String.fromCharCode(97 + (n % 26)).repeat(sizes[n % sizes.length]!) };
}

/**
 * A client that creates, updates, deletes and recreates documents of its own, one request after the other, and
 * remembers what it was answered. When the server is gone, at most one request is in doubt.
 */
export class Writer {
  readonly #docs = new Map<string, Remembered>();
  #next: number;
  /** Edits that took place: those acknowledged, and those found after the restart. */
  applied = 0;

  constructor(
    readonly name: string,
    private readonly random: Random,
    first: number,
  ) {
    this.#next = first;
  }

  get ids(): string[] {
    return [...this.#docs.keys()];
  }

  /** Writes until the server is gone. */
  async run(client: HttpClient, db: string): Promise<void> {
    for (;;) {
      const sent = this.random.oneIn(4) ? this.#bulk() : [this.#change()];
      for (const { id, version } of sent) this.#docs.get(id)!.tried = version;
      let answer: Answer;
      try {
        answer = await this.#send(client, db, sent);
      } catch {
        return;
      }
      assert.ok(answer.status === 200 || answer.status === 201, `${answer.status} ${answer.text}`);
      const rows = (Array.isArray(answer.body) ? answer.body : [answer.body]) as {
        id: string;
        rev: string;
      }[];
      assert.equal(rows.length, sent.length);
      for (const { id, rev } of rows) this.#accept(id, rev);
    }
  }

  /** Compares what was found with what is remembered; what was in doubt is settled by it. */
  check(found: ReadonlyMap<string, Found>): void {
    for (const [id, { acknowledged, tried }] of this.#docs) {
      const now = found.get(id);
      if (now !== undefined && !now.deleted) checkBody(id, now);
      if (now?.rev === acknowledged?.rev) {
        this.#docs.get(id)!.tried = undefined!;
        if (now !== undefined) assert.ok(isVersion(now, acknowledged!), `${id}: ${JSON.stringify(now)}`);
        else this.#docs.delete(id);
        continue;
      }
      const what = `${id}: acknowledged ${JSON.stringify(acknowledged)}, tried ${JSON.stringify(tried)}, found ${JSON.stringify(now)?.slice(0, 200)}`;
      assert.ok(now !== undefined && tried !== undefined && isVersion(now, tried), what);
      assert.equal(generation(now.rev), generation(acknowledged?.rev) + 1, what);
      this.#accept(id, now.rev);
    }
    for (const id of found.keys()) {
      if (id.startsWith(this.name)) assert.ok(this.#docs.has(id), `${id} was never written`);
    }
  }

  get live(): number {
    return [...this.#docs.values()].filter(({ acknowledged }) => !acknowledged!.deleted).length;
  }

  get deleted(): number {
    return this.#docs.size - this.live;
  }

  #accept(id: string, rev: string): void {
    const doc = this.#docs.get(id)!;
    this.#docs.set(id, { acknowledged: { ...doc.tried!, rev } });
    this.applied++;
  }

  #change(): { id: string; version: Version } {
    const n = this.#next++;
    const known = [...this.#docs.keys()];
    const id = known.length > 20 && this.random.oneIn(2) ? this.random.pick(known) : `${this.name}-${n}`;
    if (!this.#docs.has(id)) this.#docs.set(id, {});
    const { acknowledged } = this.#docs.get(id)!;
    const deleted = acknowledged !== undefined && !acknowledged.deleted && this.random.oneIn(4);
    return { id, version: { n, deleted } };
  }

  #bulk(): { id: string; version: Version }[] {
    const changes = new Map<string, Version>();
    for (let left = 1 + this.random.below(bulkDocsMax); left > 0; left--) {
      const { id, version } = this.#change();
      if (!changes.has(id)) changes.set(id, version);
    }
    return [...changes].map(([id, version]) => ({ id, version }));
  }

  #send(client: HttpClient, db: string, sent: { id: string; version: Version }[]): Promise<Answer> {
    const docs = sent.map(({ id, version: { n, deleted } }) => {
      const { acknowledged } = this.#docs.get(id)!;
      const rev = acknowledged !== undefined && !acknowledged.deleted ? { _rev: acknowledged.rev } : {};
      return { _id: id, ...rev, ...(deleted ? { _deleted: true } : bodyOf(n)) };
    });
    if (docs.length > 1) return client.post(`${db}/_bulk_docs`, { docs });
    const doc = docs[0]! as { _id: string; _rev?: string; _deleted?: boolean };
    if (doc._deleted) return client.delete(`${db}/${doc._id}?rev=${doc._rev}`);
    return client.put(`${db}/${doc._id}`, doc);
  }
}

const isVersion = (found: Found, { n, deleted }: Version): boolean =>
  found.deleted === deleted && (deleted || found.doc!['n'] === n);

function checkBody(id: string, { rev, doc }: Found): void {
  assert.deepEqual(doc, { _id: id, _rev: rev, ...bodyOf(Number(doc!['n'])) });
}

const generation = (rev: string | undefined): number => (rev === undefined ? 0 : parseInt(rev, 10));
