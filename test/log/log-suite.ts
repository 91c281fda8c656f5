import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { LogTruncated, type Log, type LogEntry } from '../../src/log/log.js';
import type { Entry, Store } from '../../src/storage/store.js';
import { FailingStore } from './failing-store.js';

/** A state machine and commands that change it. */
export interface LogScene<C extends { type: keyof R }, R> {
  /** The machine on a store: its log, and all it has stored that replicas share. */
  open(store: Store): { log: Log<C, R>; contents(): Entry[]; close(): Promise<void> };
  /** Commands that can be applied in this order to a new machine. */
  commands(count: number): C[];
  /** A command that is rejected by a machine on which the first command was applied. */
  rejected?: C;
  /** Whether commands are kept elsewhere, so that what the store refuses is applied later. */
  isReplicated?: true;
  /** A command that is too large to be applied at once, and what its parts have in common. */
  large?: { command: C; join(parts: readonly C[]): C };
}

/** What `src/log/log.ts` promises: every implementation must pass. `openStore` gives the test's store, anew each time. */
export function logSuite<C extends { type: keyof R }, R>(
  name: string,
  newStore: (t: TestContext) => () => Store,
  scene: LogScene<C, R>,
): void {
  describe(name, () => {
    describe('append', () => holdsForAppend(newStore, scene));
    describe('follow', () => holdsForFollow(newStore, scene));
    describe('when the store fails', () => holdsForFailures(scene));
  });
}

function holdsForAppend<C extends { type: keyof R }, R>(
  newStore: (t: TestContext) => () => Store,
  scene: LogScene<C, R>,
): void {
  test('positions begin at 1 and increase by one with each command, in the order of the calls', async (t) => {
    const { log, close } = scene.open(newStore(t)());
    assert.equal(log.position, 0);
    const appended = await Promise.all(scene.commands(40).map((command) => log.append(command)));
    assert.deepEqual(
      appended.map(({ position }) => position),
      appended.map((_, at) => at + 1),
    );
    assert.equal(log.position, 40);
    await close();
  });

  test('a command that was answered is there when the store is opened again', async (t) => {
    const open = newStore(t);
    const [first, ...others] = scene.commands(12);
    const before = scene.open(open());
    await before.log.append(first!);
    const stored = before.contents();
    assert.notDeepEqual(stored, []);
    await before.close();
    const after = scene.open(open());
    assert.equal(after.log.position, 1);
    assert.deepEqual(after.contents(), stored);
    for (const [at, command] of others.entries())
      assert.equal((await after.log.append(command)).position, at + 2);
    await after.close();
  });

  const { rejected, large } = scene;
  if (rejected !== undefined)
    test('a command that is rejected has no position and leaves no trace', async (t) => {
      const { log, contents, close } = scene.open(newStore(t)());
      const [first, second] = scene.commands(2);
      const pending = [log.append(first!), log.append(rejected), log.append(second!)];
      await assert.rejects(pending[1]!);
      assert.deepEqual([(await pending[0]!).position, (await pending[2]!).position], [1, 2]);
      const before = contents();
      await assert.rejects(log.append(rejected));
      assert.deepEqual(contents(), before);
      await close();
    });

  if (large !== undefined)
    test('the parts of a large command have positions of their own', async (t) => {
      const { log, close } = scene.open(newStore(t)());
      const entries = collect(log.follow(0));
      const { position } = await log.append(large.command);
      assert.ok(position > 1, `${position} parts`);
      const parts = await entries.first(position);
      assert.deepEqual(large.join(parts.map(({ command }) => command)), large.command);
      await close();
    });
}

function holdsForFollow<C extends { type: keyof R }, R>(
  newStore: (t: TestContext) => () => Store,
  scene: LogScene<C, R>,
): void {
  test('a replica that applies what it follows has the same bytes', async (t) => {
    const leader = scene.open(newStore(t)());
    const replica = scene.open(newStore(t)());
    const commands = scene.commands(300);
    const entries = collect(leader.log.follow(0));
    const pending: Promise<unknown>[] = [];
    for (const [at, command] of commands.entries()) {
      pending.push(leader.log.append(command));
      if (at % 7 === 0) await pending.at(-1);
    }
    await Promise.all(pending);
    for (const { position, command } of await entries.first(leader.log.position))
      assert.equal((await replica.log.append(command)).position, position);
    assert.deepEqual(replica.contents(), leader.contents());
    await leader.close();
    await replica.close();
  });

  test('commands that were under way when following began are not left out', async (t) => {
    const { log, close } = scene.open(newStore(t)());
    const commands = scene.commands(3);
    const pending = commands.map((command) => log.append(command));
    const entries = collect(log.follow(log.position));
    await Promise.all(pending);
    const found = await entries.first(3);
    assert.deepEqual(
      found.map(({ command }) => command),
      commands,
    );
    await close();
  });

  test('a position whose commands are not kept any more is refused', async (t) => {
    const { log, close } = scene.open(newStore(t)());
    for (const command of scene.commands(2)) await log.append(command);
    assert.throws(() => log.follow(0), LogTruncated);
    await close();
  });

  test('a loop that is left ends the following', async (t) => {
    const { log, close } = scene.open(newStore(t)());
    const followed = log.follow(0);
    const [first, second] = scene.commands(2);
    await log.append(first!);
    for await (const { position } of followed) {
      assert.equal(position, 1);
      break;
    }
    await log.append(second!);
    assert.deepEqual(await followed.next(), { done: true, value: undefined });
    await close();
  });
}

function holdsForFailures<C extends { type: keyof R }, R>(scene: LogScene<C, R>): void {
  if (scene.isReplicated) return appliesLater(scene);
  test('commands that could not be stored have no position, and nobody is told of them', async () => {
    const store = new FailingStore();
    const { log, contents, close } = scene.open(store);
    const [first, ...others] = scene.commands(5);
    const entries = collect(log.follow(0));
    await log.append(first!);
    const before = contents();
    store.failing = true;
    const results = await Promise.allSettled(others.map((command) => log.append(command)));
    assert.ok(results.every(({ status }) => status === 'rejected'));
    assert.deepEqual(contents(), before);
    store.failing = false;
    for (const [at, command] of others.entries()) assert.equal((await log.append(command)).position, at + 2);
    const found = await entries.first(5);
    assert.deepEqual(
      found.map(({ position }) => position),
      [1, 2, 3, 4, 5],
    );
    await close();
  });
}

function appliesLater<C extends { type: keyof R }, R>(scene: LogScene<C, R>): void {
  test('commands that the store refuses are applied, in their order, when it takes them again', async () => {
    const store = new FailingStore();
    const { log, contents, close } = scene.open(store);
    const [first, ...others] = scene.commands(20);
    await log.append(first!);
    const before = contents();
    store.failing = true;
    const pending = others.map((command) => log.append(command));
    await store.failed;
    assert.deepEqual(contents(), before);
    store.failing = false;
    const appended = await Promise.all(pending);
    assert.deepEqual(
      appended.map(({ position }) => position),
      others.map((_, at) => at + 2),
    );
    await close();
  });
}

/** Takes what a follower gives from the beginning on. */
function collect<C>(followed: AsyncIterableIterator<LogEntry<C>>): {
  first(count: number): Promise<LogEntry<C>[]>;
} {
  const found: LogEntry<C>[] = [];
  return {
    first: async (count) => {
      while (found.length < count) {
        const { done, value } = await followed.next();
        if (done) break;
        found.push(value);
      }
      return found;
    },
  };
}
