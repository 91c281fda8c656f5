import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import type { Journal } from '../../src/log/journal.js';
import type { Entry, Store } from '../../src/storage/store.js';
import { FailingStore } from './failing-store.js';

/** A node's state and entries that change it. */
export interface JournalScene<E extends { type: keyof R }, R> {
  open(store: Store): { journal: Journal<E, R>; prepare(): Promise<void>; close(): Promise<void> };
  /** Entries that can be recorded in this order after `prepare`, of all types. */
  entries: readonly E[];
}

const contents = (store: Store): Entry[] => [
  ...store.entries({ start: asBytes('\0'), end: asBytes('\xff') }),
];

/** What `src/log/journal.ts` promises: every implementation must pass. */
export function journalSuite<E extends { type: keyof R }, R>(
  name: string,
  newStore: (t: TestContext) => () => Store,
  scene: JournalScene<E, R>,
): void {
  describe(name, () => {
    test('an entry that was recorded is there when the store is opened again', async (t) => {
      const open = newStore(t);
      const store = open();
      const { journal, prepare, close } = scene.open(store);
      await prepare();
      const states: Entry[][] = [];
      for (const entry of scene.entries) {
        await journal.record(entry);
        states.push(contents(store));
      }
      assert.ok(new Set(states.map((state) => JSON.stringify(state))).size > 1);
      await close();
      const again = open();
      assert.deepEqual(contents(again), states.at(-1));
      await again.close();
    });

    test('an entry that is recorded again changes nothing', async (t) => {
      const store = newStore(t)();
      const { journal, prepare, close } = scene.open(store);
      await prepare();
      for (const entry of scene.entries) {
        await journal.record(entry);
        const once = contents(store);
        await journal.record(entry);
        assert.deepEqual(contents(store), once, String(entry.type));
      }
      await close();
    });

    test('entries recorded together are applied in order', async (t) => {
      const [together, alone] = [newStore(t)(), newStore(t)()];
      const all = scene.open(together);
      await all.prepare();
      const results = await Promise.all(scene.entries.map((entry) => all.journal.record(entry)));
      const one = scene.open(alone);
      await one.prepare();
      for (const [at, entry] of scene.entries.entries())
        assert.deepEqual(await one.journal.record(entry), results[at]);
      assert.deepEqual(contents(together), contents(alone));
      await all.close();
      await one.close();
    });

    test('an entry that could not be stored leaves no trace', async () => {
      const store = new FailingStore();
      const { journal, prepare, close } = scene.open(store);
      await prepare();
      const before = contents(store);
      store.failing = true;
      const results = await Promise.allSettled(scene.entries.map((entry) => journal.record(entry)));
      assert.ok(results.every(({ status }) => status === 'rejected'));
      store.failing = false;
      assert.deepEqual(contents(store), before);
      await close();
    });
  });
}
