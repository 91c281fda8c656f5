import assert from 'node:assert/strict';
import { asBytes } from '../../src/base/bytes.js';
import type { Random } from '../model/random.js';
import { attachmentsFor } from './attachments.js';
import { diskError, expectStatus, parse, type Answer } from './client.js';
import { best, leafOf, type Facts, type Leaf } from './facts.js';
import { databaseName, type Life } from './life.js';
import { query } from './queries.js';
import type { Rules } from './rules.js';

const sharedIds = Array.from({ length: 8 }, (_, i) => `shared-${i}`);

/** What may become of a document of a bulk. */
const expectedErrors = ['conflict', 'forbidden', 'insufficient_storage', 'service_unavailable'];

interface Doc {
  _id: string;
  _rev?: string;
  _deleted?: boolean;
  n: number;
}

/** What became of one document of a request. */
interface Result {
  rev?: string;
  error?: string;
}

/** A client that edits, merges, purges and reads, one request after the other. */
export class Writer {
  constructor(
    private readonly name: string,
    private readonly facts: Facts,
    private readonly rules: Rules,
    private readonly random: Random,
    private readonly trace: (event: string) => void,
  ) {}

  /** Goes on until the life ends; a crash leaves the last request unanswered. */
  async work(life: Life): Promise<void> {
    while (!life.isEnding) {
      const at = this.random.below(100);
      if (at < 45) await this.#save(life, true);
      else if (at < 62) await this.#save(life, false);
      else if (at < 88) await this.#read(life, this.#id());
      else if (at < 94) await query(life, this.facts, this.random, this.trace);
      else if (at < 95) await this.#purge(life);
      else if (at < 96) this.trace(`${this.name} splits ${await life.split(this.random)}`);
      else if (at < 97) this.trace(`${this.name} divides ${await life.divide(this.random)}`);
      else await life.compact();
      if (this.random.oneIn(3)) await life.runtime.sleep(this.random.below(12));
      else await life.runtime.nextTurn();
    }
  }

  #id(): string {
    return this.random.oneIn(3) ? `${this.name}-${this.random.below(4)}` : this.random.pick(sharedIds);
  }

  #look({ database }: Life, id: string): Leaf[] {
    return this.facts.look(database, asBytes(id));
  }

  /** An answer has all that was acknowledged or seen before it was asked for. */
  async #read({ client }: Life, id: string): Promise<void> {
    const kept = this.facts.keptOf(asBytes(id));
    const answer = await client.send('GET', `/${databaseName}/${id}?open_revs=all&revs=true`);
    expectStatus(answer, id, 200, 404);
    const found = answer.status === 404 ? [] : parse<{ ok: Record<string, unknown> }[]>(answer);
    const leaves = found.map(({ ok }) => leafOf(ok));
    this.facts.check(asBytes(id), leaves, kept);
    const told = leaves.map(({ rev, deleted }) => (deleted ? `${rev} deleted` : rev));
    this.trace(`${this.name} reads ${id} ${told.join()}`);
  }

  async #save(life: Life, newEdits: boolean): Promise<void> {
    const ids = new Set(
      Array.from({ length: 1 + this.random.below(this.random.oneIn(4) ? 5 : 1) }, () => this.#id()),
    );
    const docs = [...ids].map((id) => {
      const n = this.facts.begin();
      const leaves = this.#look(life, id);
      return newEdits ? this.#edit(id, n, leaves) : this.#history(id, n, leaves);
    });
    // What others do in the meantime makes some revisions outdated.
    if (this.random.oneIn(3)) await life.runtime.sleep(this.random.below(8));
    const checked = docs.map(({ _id, n, _deleted }) =>
      this.rules.open(life, { id: _id, n, deleted: _deleted === true }),
    );
    const isPut = newEdits && docs.length === 1 && this.random.oneIn(2);
    const answer = isPut ? await this.#put(life, docs[0]!) : await this.#bulk(life, docs, newEdits);
    const results = this.#resultsOf(answer, docs, isPut, newEdits);
    for (const [at, doc] of docs.entries()) {
      this.rules.close(checked[at]!, results === undefined ? 'refused' : results[at]!.error);
      this.#answered(life, doc, results?.[at], newEdits);
    }
  }

  #put({ client }: Life, doc: Doc): Promise<Answer> {
    return client.send('PUT', `/${databaseName}/${doc._id}`, doc);
  }

  #bulk({ client }: Life, docs: readonly Doc[], newEdits: boolean): Promise<Answer> {
    return client.send('POST', `/${databaseName}/_bulk_docs`, { docs, new_edits: newEdits });
  }

  /** What became of each document; undefined where the whole request was refused. */
  #resultsOf(answer: Answer, docs: readonly Doc[], isPut: boolean, newEdits: boolean): Result[] | undefined {
    // The revision that an attachment was to be taken over from may have been compacted away meanwhile.
    if (answer.status === 412 || diskError(answer) !== undefined) return undefined;
    if (isPut) {
      expectStatus(answer, 'a write', 200, 201, 403, 409);
      return [parse<Result>(answer)];
    }
    expectStatus(answer, 'a bulk of writes', 201);
    const results = parse<(Result & { id: string })[]>(answer);
    if (newEdits) return results;
    // Only what failed is told.
    return docs.map(({ _id, _rev }) => results.find(({ id }) => id === _id) ?? { rev: _rev! });
  }

  #answered(life: Life, doc: Doc, result: Result | undefined, newEdits: boolean): void {
    const { _id: id, n } = doc;
    const parent = newEdits ? doc._rev : undefined;
    this.trace(`${this.name} saves ${id} ${result?.error ?? result?.rev ?? 'refused'}`);
    if (result === undefined || result.error !== undefined) this.facts.refused(n);
    else this.facts.stored(n, asBytes(id), result.rev!, parent);
    const leaves = this.#look(life, id);
    if (result?.error === undefined) return;
    assert.ok(expectedErrors.includes(result.error), `${id}: ${result.error}`);
    // A document that is deleted goes on without a revision only.
    if (result.error === 'conflict' && best(leaves)?.deleted === false)
      assert.ok(
        !leaves.some(({ rev, deleted }) => rev === parent && !deleted),
        `${id}: nothing explains a conflict with ${parent}`,
      );
  }

  #edit(id: string, n: number, leaves: readonly Leaf[]): Doc {
    const winner = best(leaves);
    const isNew = winner === undefined || winner.deleted;
    const parent = isNew ? undefined : this.random.oneIn(5) ? this.random.pick(leaves) : winner;
    return {
      _id: id,
      ...(parent && { _rev: parent.rev }),
      ...(!isNew && this.random.oneIn(5) && { _deleted: true }),
      ...this.#body(n, parent),
    };
  }

  /** A revision made elsewhere: a branch of its own, or one that continues any known revision. */
  #history(id: string, n: number, leaves: readonly Leaf[]): Doc {
    const parent = leaves.length > 0 && !this.random.oneIn(4) ? this.random.pick(leaves) : undefined;
    const history = parent?.history.slice(this.random.below(parent.history.length)) ?? [];
    const start = history.length === 0 ? 1 : Number(history[0]!.split('-')[0]) + 1;
    const ids = [this.random.hex(32), ...history.map((rev) => rev.split('-')[1]!)];
    const revisions = { start, ids };
    return {
      _id: id,
      _rev: `${start}-${ids[0]}`,
      ...{ _revisions: revisions },
      ...(this.random.oneIn(6) && { _deleted: true }),
      ...this.#body(n, undefined),
    };
  }

  #body(n: number, parent: Leaf | undefined): { n: number } {
    const attachments = attachmentsFor(n, parent, this.random);
    const pad = 'x'.repeat(this.random.pick([0, 40, 1_100]));
    return { n, ...{ pad }, ...(attachments && { _attachments: attachments }) };
  }

  /** Only documents that no other client writes to; they are not looked at any more. */
  async #purge(life: Life): Promise<void> {
    const id = asBytes(`${this.name}-${this.random.below(4)}`);
    const revs = this.#look(life, id).map(({ rev }) => rev);
    if (revs.length === 0) return;
    this.facts.purged.add(id);
    const answer = await life.client.send('POST', `/${databaseName}/_purge`, { [id]: revs });
    expectStatus(answer, 'a purge', 201, 503, 507);
    this.trace(`${this.name} purges ${id} ${answer.status}`);
  }
}
