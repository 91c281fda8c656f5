import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { DatabaseRecord } from './catalogue.js';
import type { Database } from './database.js';
import { OpenDatabases } from './open-databases.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const databaseOf = (instance: number, followed = false): Database =>
  ({
    name: `db${instance}`,
    record: { instance },
    isGone: false,
    followers: followed ? {} : undefined,
  }) as Database;

const recordOf = (instance: number): DatabaseRecord => ({ instance, slot: 0, q: 1 });

const opened = (open: OpenDatabases, instance: number): Database =>
  open.open(recordOf(instance), () => databaseOf(instance));

describe('open databases', () => {
  test('are kept by how recently they were used', () => {
    const open = new OpenDatabases(3);
    for (const instance of [1, 2, 3]) opened(open, instance);
    open.get('db1');
    opened(open, 4);
    assert.deepEqual(
      [1, 2, 3, 4].map((instance) => open.get(`db${instance}`) !== undefined),
      [true, false, true, true],
    );
  });

  test('that are followed stay', () => {
    const open = new OpenDatabases(2);
    open.open(recordOf(1), () => databaseOf(1, true));
    for (const instance of [2, 3, 4]) opened(open, instance);
    assert.ok(open.get('db1'));
  });

  test('are the same object for as long as it is in use', async () => {
    const open = new OpenDatabases(2);
    const held = opened(open, 1);
    for (const instance of [2, 3, 4]) opened(open, instance);
    await nextTurn();
    collectGarbage();
    assert.equal(open.get('db1'), undefined);
    assert.equal(open.byName('db1'), held);
    assert.equal(open.byInstance(1), held);
    assert.ok([...open.all()].includes(held));
    assert.equal(opened(open, 1), held);
    assert.equal(open.get('db1'), held);
  });

  test('that nothing uses take no memory; their names are known for a while', async () => {
    const open = new OpenDatabases(10);
    for (let instance = 1; instance <= 5_000; instance++) opened(open, instance);
    // What was looked at stays for the rest of the turn.
    for (let turns = 0; turns < 5; turns++) {
      await nextTurn();
      collectGarbage();
    }
    assert.equal([...open.all()].length, 10);
    assert.equal(open.byName('db4000'), undefined);
    assert.equal(open.nameOf(5_000), 'db5000');
    const known = Array.from({ length: 5_000 }, (_, n) => open.nameOf(n + 1)).filter(Boolean);
    assert.ok(known.length <= 1_010, `${known.length} names are remembered`);
  });

  test('that are removed make room for another of the same name', () => {
    const open = new OpenDatabases(2);
    const before = opened(open, 1);
    open.remove(before);
    assert.equal(open.get('db1'), undefined);
    assert.equal(open.byName('db1'), undefined);
    assert.equal(open.nameOf(1), 'db1');
    const next = { ...databaseOf(2), name: 'db1' } as Database;
    open.open(recordOf(2), () => next);
    open.remove(before);
    assert.equal(open.get('db1'), next);
  });
});
