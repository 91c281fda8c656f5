import assert from 'node:assert/strict';
import type { Bytes } from '../../src/base/bytes.js';
import { RequestError } from '../../src/base/errors.js';
import { StorageError } from '../../src/base/storage-errors.js';
import { purgeDocs } from '../../src/documents/purge-docs.js';
import { saveDocs, type Saved } from '../../src/documents/save-docs.js';
import { formatRev, parseRev } from '../../src/revisions/rev.js';
import type { NamedInput } from '../../src/shard/document-input.js';
import type { Random } from '../model/random.js';
import { attachmentsFor } from './attachments.js';
import { best, type Facts, type Leaf } from './facts.js';
import { listIds } from './listing.js';
import type { Life } from './life.js';

const sharedIds = Array.from({ length: 8 }, (_, i) => `shared-${i}`);
const user = { name: 'admin', roles: ['_admin'] };

interface Sent {
  n: number;
  id: Bytes;
  input: NamedInput;
}

/** A client that edits, merges, purges and reads, one request after the other. */
export class Writer {
  constructor(
    private readonly name: string,
    private readonly facts: Facts,
    private readonly random: Random,
    private readonly trace: (event: string) => void,
  ) {}

  /** Goes on until the life ends; a crash leaves the last request unanswered. */
  async work(life: Life): Promise<void> {
    while (!life.isEnding) {
      const at = this.random.below(100);
      if (at < 45) await this.#save(life, true);
      else if (at < 62) await this.#save(life, false);
      else if (at < 90) this.#look(life, this.#id());
      else if (at < 94) await listIds(life, this.facts, this.trace);
      else if (at < 95) await this.#purge(life);
      else if (at < 96) this.trace(`${this.name} splits ${await life.split(this.random)}`);
      else if (at < 97) this.trace(`${this.name} divides ${await life.divide(this.random)}`);
      else await life.compact();
      if (this.random.oneIn(3)) await life.runtime.sleep(this.random.below(12));
      else await life.runtime.nextTurn();
    }
  }

  #id(): Bytes {
    return this.random.oneIn(3) ? `${this.name}-${this.random.below(4)}` : this.random.pick(sharedIds);
  }

  #look({ database }: Life, id: Bytes): Leaf[] {
    const leaves = this.facts.look(database, id);
    this.trace(
      `${this.name} reads ${id} ${leaves.map(({ rev, deleted }) => (deleted ? `${rev} deleted` : rev)).join()}`,
    );
    return leaves;
  }

  async #save(life: Life, newEdits: boolean): Promise<void> {
    const ids = new Set(
      Array.from({ length: 1 + this.random.below(this.random.oneIn(4) ? 5 : 1) }, () => this.#id()),
    );
    const writes = [...ids].map((id) => {
      const n = this.facts.begin();
      const leaves = this.#look(life, id);
      return { n, id, input: newEdits ? this.#edit(id, n, leaves) : this.#history(id, n, leaves) };
    });
    const inputs = writes.map(({ input }) => input);
    // What others do in the meantime makes some revisions outdated.
    if (this.random.oneIn(3)) await life.runtime.sleep(this.random.below(8));
    try {
      const saved = await saveDocs(life.registry, life.database, inputs, { user, newEdits });
      for (const [at, write] of writes.entries()) this.#answered(life, write, saved[at]!, newEdits);
    } catch (error) {
      // The revision that an attachment was to be taken over from may have been compacted away meanwhile.
      const isExpected =
        error instanceof StorageError || (error instanceof RequestError && error.error === 'missing_stub');
      if (!isExpected) throw error;
      for (const { n } of writes) this.facts.refused(n);
      this.trace(`${this.name} is refused ${error.error}`);
      for (const { id } of writes) this.#look(life, id);
    }
  }

  #answered(life: Life, { n, id, input }: Sent, result: Saved, newEdits: boolean): void {
    const told = result instanceof RequestError ? result.error : formatRev(result);
    this.trace(`${this.name} saves ${id} ${told}`);
    const parent = newEdits && input.rev !== undefined ? formatRev(input.rev) : undefined;
    if (result instanceof RequestError) this.facts.refused(n);
    else this.facts.stored(n, id, told, parent);
    const leaves = this.#look(life, id);
    // A document that is deleted goes on without a revision only.
    if (told === 'conflict' && best(leaves)?.deleted === false)
      assert.ok(
        !leaves.some(({ rev, deleted }) => rev === parent && !deleted),
        `${id}: nothing explains a conflict with ${parent}`,
      );
  }

  #edit(id: Bytes, n: number, leaves: readonly Leaf[]): NamedInput {
    const winner = best(leaves);
    const isNew = winner === undefined || winner.deleted;
    const rev = isNew
      ? undefined
      : parseRev(this.random.oneIn(5) ? this.random.pick(leaves).rev : winner.rev);
    return {
      id,
      rev,
      revisions: undefined,
      deleted: !isNew && this.random.oneIn(5),
      attachments: attachmentsFor(
        n,
        isNew ? undefined : leaves.find((leaf) => leaf.rev === formatRev(rev!)),
        this.random,
      ),
      body: body(n, this.random),
    };
  }

  /** A revision made elsewhere: a branch of its own, or one that continues any known revision. */
  #history(id: Bytes, n: number, leaves: readonly Leaf[]): NamedInput {
    const parent = leaves.length > 0 && !this.random.oneIn(4) ? this.random.pick(leaves) : undefined;
    const history = parent?.history.slice(this.random.below(parent.history.length)) ?? [];
    const start = history.length === 0 ? 1 : Number(history[0]!.split('-')[0]) + 1;
    const hashes = [this.random.hex(32), ...history.map((rev) => rev.split('-')[1]!)];
    return {
      id,
      rev: undefined,
      revisions: { start, hashes },
      deleted: this.random.oneIn(6),
      attachments: attachmentsFor(n, undefined, this.random),
      body: body(n, this.random),
    };
  }

  /** Only documents that nobody else writes to; they are not looked at any more. */
  async #purge(life: Life): Promise<void> {
    const id = `${this.name}-${this.random.below(4)}`;
    const revs = this.#look(life, id).map(({ rev }) => parseRev(rev)!);
    if (revs.length === 0) return;
    this.facts.purged.add(id);
    const removed = await purgeDocs(life.database, [{ id, revs }]).catch((error: unknown) => {
      if (!(error instanceof StorageError)) throw error;
    });
    this.trace(`${this.name} purges ${id} ${removed?.[0]?.length ?? 'refused'}`);
  }
}

function body(n: number, random: Random): string {
  return `{"n":${n},"pad":"${'x'.repeat(random.pick([0, 40, 1_100]))}"}`;
}
