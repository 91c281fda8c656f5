import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RequestError } from '../base/errors.js';
import { SystemRuntime } from '../base/runtime.js';
import type { Database } from './database.js';
import { ShardMap } from '../shard/shard-map.js';
import { awaitSince, encodeSequence, parseSince, SequenceWriter } from './sequence.js';

/** As much of a database as sequences look at. */
function database(
  states: { seq: number; epoch?: number }[],
  uuid = '0123abcd',
  shards = new ShardMap(states.length),
): Database {
  const whole = states.map(({ seq, epoch = 1 }) => ({ seq, epoch }));
  return {
    record: { q: states.length, uuid, instance: 1, slot: 0 },
    collection: { states: shards.splits.reduce(withoutSource, whole), shards },
    total: () => whole.reduce((sum, { seq }) => sum + seq, 0),
    runtime: new SystemRuntime(),
  } as unknown as Database;
}

type State = { seq: number; epoch: number };

const withoutSource = (states: State[], { source }: { source: number }): State[] =>
  states.map((state, shard) => (shard === source ? { seq: 0, epoch: 0 } : state));

const seqs = (...given: number[]): { seq: number }[] => given.map((seq) => ({ seq }));
const wide = 2 ** 24;

describe('a sequence', () => {
  for (const [name, states] of Object.entries({
    'of one shard': seqs(7),
    'of several': seqs(1, 0, 300, 70_000),
    'that is wide': seqs(5, wide, 2 ** 40),
    'just below the limit': seqs(wide - 1, 3),
    'of 256 shards': Array.from({ length: 256 }, (_, shard) => ({ seq: shard * 1_000 })),
    'with epochs that differ': [{ seq: 4, epoch: 3 }, { seq: 5 }, { seq: 6, epoch: 1_000 }],
    'with a late epoch': seqs(1, 2, 3).map((each) => ({ ...each, epoch: 200 })),
  })) {
    test(`${name} is read as it was written`, () => {
      const db = database(states);
      const token = encodeSequence(db);
      assert.match(token, /^\d+-g1[A-Za-z0-9_-]{12,}$/);
      assert.equal(parseInt(token), db.total('seq'));
      const positions = states.map(({ seq }) => seq);
      assert.deepEqual(parseSince(db, token), positions);
      assert.deepEqual(parseSince(db, `"${token}"`), positions);
      const [number, opaque] = token.split(/-(.*)/) as [string, string];
      assert.deepEqual(parseSince(db, `[${number},"${opaque}"]`), positions);
    });
  }

  test('written step by step is the same as written at once', () => {
    const random = Array.from({ length: 500 }, () => ({
      shard: Math.floor(Math.random() * 5),
      seq: Math.floor(Math.random() ** 8 * 2 ** 30),
    }));
    const now = [0, 0, 0, 0, 0];
    const writer = new SequenceWriter(database(seqs(2 ** 31, 2 ** 31, 2 ** 31, 2 ** 31, 2 ** 31)), now);
    let isWide = false;
    for (const { shard, seq } of random) {
      writer.move(shard, seq);
      now[shard] = seq;
      isWide ||= seq >= wide;
      const db = database(now.map((each) => ({ seq: each })));
      assert.deepEqual(parseSince(db, writer.token()), now);
      const { total, left, moving, right } = writer;
      assert.equal(`${total}${left}${moving}${right}`, `${writer.token()}","id":"`);
    }
    assert.ok(isWide);
  });
});

describe('a sequence from elsewhere is read from the beginning', () => {
  const token = encodeSequence(database(seqs(5, 6)));

  test('when the database is another one', () => {
    assert.deepEqual(parseSince(database(seqs(9, 9), 'ffffffff'), token), [0, 0]);
  });

  test('in a shard that was put back, and in no other', () => {
    assert.deepEqual(parseSince(database([{ seq: 9, epoch: 2 }, { seq: 9 }]), token), [0, 6]);
    assert.deepEqual(parseSince(database(seqs(9, 3)), token), [5, 0]);
  });

  test('when it is damaged', () => {
    const db = database(seqs(9, 9));
    for (let length = token.indexOf('g1') + 2; length < token.length - 1; length++) {
      const cut = parseSince(db, token.slice(0, length));
      assert.ok(cut[0]! <= 5 && cut[1]! <= 6, token.slice(0, length));
    }
  });

  test('but is refused when it is no sequence at all', () => {
    for (const text of ['', 'abc', '-1', '5-', '5-g2AAAA', '5-g1 ', '{}', '[1]', '1e3', 'NOW']) {
      assert.throws(() => parseSince(database(seqs(9)), text), RequestError, text);
    }
  });
});

test('shards that were split go on from the sequence of their source', () => {
  const token = encodeSequence(database(seqs(5, 6)));
  const once = new ShardMap(2, [{ source: 0, middle: 2 ** 30 - 1, seq: 7 }]);
  const twice = once.with({ source: 3, middle: 2 ** 30 + 2 ** 29 - 1, seq: 8 });
  const afterOne = database(seqs(0, 9, 9, 9), '0123abcd', once);
  assert.deepEqual(parseSince(afterOne, token), [0, 6, 5, 5]);
  const afterTwo = database(seqs(0, 9, 9, 0, 9, 9), '0123abcd', twice);
  assert.deepEqual(parseSince(afterTwo, token), [0, 6, 5, 0, 5, 5]);
  assert.deepEqual(parseSince(afterTwo, encodeSequence(afterOne)), [0, 9, 9, 0, 9, 9]);
  assert.deepEqual(parseSince(afterTwo, encodeSequence(afterTwo)), [0, 9, 9, 0, 9, 9]);
  // A place that was taken down before is written as the same place now.
  assert.deepEqual(parseSince(afterTwo, encodeSequence(afterTwo, seqs(5, 6))), [0, 6, 5, 0, 5, 5]);
});

test('of shards that are not those of the database, nothing is known', () => {
  const odd = encodeSequence(database(seqs(5, 6, 7)));
  assert.deepEqual(parseSince(database(seqs(9, 9)), odd), [0, 0]);
  assert.deepEqual(parseSince(database(seqs(9, 9, 9, 9)), odd), [0, 0, 0, 0]);
});

test('a number means at least so much of each shard as the others cannot account for', () => {
  const db = database(seqs(10, 10));
  assert.deepEqual(parseSince(db, '20'), [10, 10]);
  assert.deepEqual(parseSince(db, '15'), [5, 5]);
  assert.deepEqual(parseSince(db, '10'), [0, 0]);
  assert.deepEqual(parseSince(db, '21'), [0, 0]);
  assert.deepEqual(parseSince(db, '0'), [0, 0]);
  assert.deepEqual(parseSince(db, 'now'), [10, 10]);
});

describe('a sequence that is ahead of its shards', () => {
  const token = encodeSequence(database(seqs(5, 9)));

  /** A database whose second shard gets one change with each commit. */
  function behind(seq: number, epoch = 1): { db: Database; commits: () => number } {
    const db = database([{ seq: 7 }, { seq, epoch }]);
    let commits = 0;
    db.nextCommit = () => {
      commits++;
      db.collection.states[1]!.seq++;
      return Promise.resolve();
    };
    return { db, commits: () => commits };
  }

  test('is waited for', async () => {
    const { db, commits } = behind(6);
    assert.deepEqual(await awaitSince(db, token), [5, 9]);
    assert.equal(commits(), 3);
  });

  test('begins anew where the shard does not get there in time', async () => {
    const { db } = behind(6);
    db.nextCommit = (timeoutMs) => new Promise((resolve) => setTimeout(resolve, timeoutMs));
    assert.deepEqual(await awaitSince(db, token, 20), [5, 0]);
  });

  test('is not waited for where it is of another epoch, or the shards are there', async () => {
    const other = behind(6, 2);
    assert.deepEqual(await awaitSince(other.db, token), [5, 0]);
    const there = behind(9);
    assert.deepEqual(await awaitSince(there.db, token), [5, 9]);
    assert.equal(other.commits() + there.commits(), 0);
  });
});
