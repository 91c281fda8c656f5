import assert from 'node:assert/strict';
import { asBytes } from '../../src/base/bytes.js';
import type { Facts } from './facts.js';
import { databaseName, type Life } from './life.js';

interface Row {
  seq: string;
  id: string;
  changes: { rev: string }[];
}

/** Follows the changes of a database over all crashes, each time from the last sequence that it was given. */
export class FeedClient {
  #since = '0';
  #count = 0;
  /** Where it stood when all that readers saw was flushed. */
  #flushed = { since: '0', count: 0 };
  /** The leaves of each document as its last row shows them. */
  readonly latest = new Map<string, string[]>();

  constructor(
    private readonly facts: Facts,
    private readonly trace: (event: string) => void,
    private readonly isFlushed: () => boolean,
  ) {}

  /**
   * A feed passes over a change that a later one has replaced. LMDB shows only what is flushed; the simulated store shows the
   * later one earlier, and where a crash forgets it, the client has to go back to before it.
   */
  crashed(forgotten: number): void {
    if (forgotten === 0) return;
    this.#since = this.#flushed.since;
    this.#count = this.#flushed.count;
  }

  async follow({ client }: Life): Promise<void> {
    const path = `/${databaseName}/_changes?feed=continuous&style=all_docs&heartbeat=5000&since=${this.#since}`;
    await client.follow(path, (line) => {
      if (line !== '') this.#take(JSON.parse(line) as Row);
    });
  }

  #take({ seq, id, changes }: Row): void {
    const count = Number(seq.split('-')[0]);
    assert.ok(count > this.#count, `a feed went back from ${this.#count} to ${count}`);
    this.#count = count;
    this.#since = seq;
    const revs = changes.map(({ rev }) => rev);
    if (!id.startsWith('_design/') && !this.facts.purged.has(asBytes(id)))
      for (const rev of revs) this.facts.keep(asBytes(id), rev);
    this.latest.set(id, revs);
    this.trace(`row ${count} ${id} ${revs.join()}`);
    if (this.isFlushed()) this.#flushed = { since: this.#since, count: this.#count };
  }
}
