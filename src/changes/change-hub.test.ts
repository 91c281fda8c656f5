import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SystemRuntime } from '../base/runtime.js';
import type { DatabaseRecord } from '../node/catalogue.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import { Database, type Groups } from '../node/database.js';
import { ShardMap } from '../shard/shard-map.js';
import { ChangeHub } from './change-hub.js';
import type { ChangesView } from './changes-view.js';
import type { Feed, FeedListener } from './feed.js';

const view = { docIds: undefined, filter: undefined } as unknown as ChangesView;

/** Keeps what is put off. */
class TestRuntime extends SystemRuntime {
  readonly deferred: (() => void)[] = [];

  override defer(work: () => void): void {
    this.deferred.push(work);
  }
}

/** A database without documents; its shards may be given sequences nevertheless. */
function emptyDatabase() {
  const collection = {
    shards: new ShardMap(2),
    states: [0, 0].map((seq) => ({ seq, epoch: 1 })),
  };
  const runtime = new TestRuntime();
  const database = { record: {}, collection, runtime, isGone: false } as unknown as Database;
  const hub = ChangeHub.of({} as DatabaseRegistry, database);
  /** Splits the first shard. */
  const split = (): void => {
    const { seq } = collection.states[0]!;
    collection.shards = collection.shards.with({ source: 0, middle: 2 ** 30, seq });
    collection.states = [{ seq: 0, epoch: 1 }, collection.states[1]!, { seq, epoch: 1 }, { seq, epoch: 1 }];
  };
  return { collection, hub, runtime, split };
}

/** A feed from now on, and how often it had caught up. */
function follow(hub: ChangeHub): { feed: Feed; caughtUp(): number } {
  let times = 0;
  const listener: FeedListener = {
    room: Infinity,
    send: () => undefined,
    caughtUp: () => times++,
    ended: () => undefined,
    failed: (error) => {
      throw error;
    },
    recheck: () => undefined,
  };
  const feed = hub.follow({ view, start: hub.current(), limit: Infinity, shareKey: 'all' }, listener);
  feed.resume();
  return { feed, caughtUp: () => times };
}

test('a feed that rests alone while a shard is split is woken once by the next commit', async () => {
  const { collection, hub, runtime, split } = emptyDatabase();
  const first = follow(hub);
  await settled();
  collection.states[1]!.seq = 1;
  // It stands ahead of the shared feed, which has not been told of the commit yet.
  const second = follow(hub);
  await settled();
  split();
  first.feed.close();
  hub.wake();
  for (const work of runtime.deferred.splice(0)) work();
  await settled();
  assert.equal(first.caughtUp(), 1);
  assert.equal(second.caughtUp(), 2);
  assert.deepEqual(second.feed.positions, [0, 1, 0, 0]);
});

test('a feed that begins when the database is deleted, or leaves the node, is told so', async () => {
  const record: DatabaseRecord = { instance: 1, slot: 0, q: 1 };
  const open = (): Database => new Database('db', record, {} as Groups);
  const news = (database: Database): Promise<unknown> =>
    ChangeHub.of({} as DatabaseRegistry, database).news(AbortSignal.timeout(5_000));
  const [deleted, released] = [open(), open()];
  deleted.markGone();
  assert.equal(await news(deleted), 'database_deleted');
  released.release();
  assert.equal(await news(released), 'server_closing');
});

/** What was begun has come to where it waits. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
