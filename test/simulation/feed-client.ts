import assert from 'node:assert/strict';
import type { Bytes } from '../../src/base/bytes.js';
import { toBytes } from '../../src/base/bytes.js';
import { ChangeHub } from '../../src/changes/change-hub.js';
import type { Piece } from '../../src/changes/change-reader.js';
import { changeRows } from '../../src/changes/change-rows.js';
import type { ChangesView } from '../../src/changes/changes-view.js';
import type { Feed, FeedListener } from '../../src/changes/feed.js';
import { linesForm } from '../../src/http/feeds/feed-form.js';
import type { DatabaseRegistry } from '../../src/node/database-registry.js';
import type { Database } from '../../src/node/database.js';
import { awaitSince } from '../../src/node/sequence.js';
import type { Random } from '../model/random.js';
import type { Facts } from './facts.js';

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
  readonly latest = new Map<Bytes, string[]>();

  constructor(
    private readonly facts: Facts,
    private readonly random: Random,
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

  async follow(registry: DatabaseRegistry, database: Database): Promise<void> {
    const start = await awaitSince(database, this.#since);
    const { runtime } = database;
    const listener: FeedListener & { room: number } = {
      room: 20,
      send: (piece: Piece) => {
        this.#take(piece);
        if (!this.random.oneIn(3)) return;
        listener.room = 0;
        runtime.setTimer(() => {
          listener.room = 1 + this.random.below(20);
          feed.resume();
        }, this.random.below(30));
      },
      caughtUp: () => this.trace('caught up'),
      ended: () => undefined,
      failed: (error) => {
        throw error as Error;
      },
      recheck: () => undefined,
    };
    const options = { view: viewOf(database), start, limit: Infinity, shareKey: 'all leaves' };
    const feed: Feed = ChangeHub.of(registry, database).follow(options, listener);
    feed.resume();
  }

  #take({ bytes }: Piece): void {
    for (const line of bytes.toString('latin1').split('\n')) {
      if (line === '') continue;
      const { seq, id, changes } = JSON.parse(Buffer.from(line, 'latin1').toString()) as Row;
      const count = Number(seq.split('-')[0]);
      assert.ok(count > this.#count, `a feed went back from ${this.#count} to ${count}`);
      this.#count = count;
      this.#since = seq;
      const revs = changes.map(({ rev }) => rev);
      for (const rev of revs) if (!this.facts.purged.has(toBytes(id))) this.facts.keep(toBytes(id), rev);
      this.latest.set(toBytes(id), revs);
      this.trace(`row ${count} ${id} ${revs.join()}`);
    }
    if (this.isFlushed()) this.#flushed = { since: this.#since, count: this.#count };
  }
}

function viewOf(database: Database): ChangesView {
  const rows = {
    allLeaves: true,
    includeDocs: false,
    conflicts: false,
    encodingInfo: false,
    show: undefined,
    trim: undefined,
  };
  return {
    ...rows,
    row: changeRows(database, rows),
    framing: linesForm.framing,
    plain: linesForm.plain,
    attachments: false,
    seqInterval: 1,
    seqFirst: 0,
    filter: undefined,
    docIds: undefined,
    docIdsLookedUpMax: 0,
  };
}
