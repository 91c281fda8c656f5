/**
 * Run by `broken-environment.test.ts` in a process of its own whose system calls can be made to fail: does to a store what
 * the argument names, and prints what came of it.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { asBytes } from '../../src/base/bytes.js';
import type { StoreSharing } from '../../src/storage/lmdb-environment.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-broken-'));
const control = process.env['TUFFET_FAULTS']!;
const all = { start: asBytes('\x01'), end: asBytes('\xff') };
const writes = Array.from({ length: 500 }, (_, i) => ({
  key: asBytes(`k${i}`),
  value: asBytes('x'.repeat(1000)),
}));

const nameOf = (error: unknown): string => (error as Error).name;

/** What the work gives, or the name of its error. */
function outcome<T>(work: () => T): T | string {
  try {
    return work();
  } catch (error) {
    return nameOf(error);
  }
}

/** A store whose head page could not be written, in the moment before it is opened again. */
async function broken(): Promise<{
  store: LmdbStore;
  reopen: () => Promise<void>;
  written: Promise<string>;
}> {
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  const sharing: StoreSharing = { release: () => released, reopened: () => Promise.resolve() };
  const store = new LmdbStore(folder, sharing);
  await store.write(writes).flushed;
  fs.writeFileSync(control, `meta 5 1 ${folder}\n`);
  const written = store.write([{ key: asBytes('refused'), value: asBytes('1') }]).flushed.then(
    () => 'stored',
    (error: unknown) => nameOf(error),
  );
  return {
    store,
    written,
    reopen: async () => {
      fs.rmSync(control);
      release();
      await written;
    },
  };
}

const faultIsMet = async (): Promise<void> => {
  while (!fs.existsSync(`${control}.log`)) await nextTurn();
};

const scenarios: Record<string, () => Promise<unknown>> = {
  /** Another thread's handle of the same environment does not know yet that it is broken. */
  async reading() {
    const other = new LmdbStore(folder);
    // The library goes on using a cursor that it has.
    void [...other.keys(all)];
    const { reopen } = await broken();
    await faultIsMet();
    const found = [
      outcome(() => [...other.entries(all)].length),
      outcome(() => [...other.keys(all)].length),
      outcome(() => [...other.listNumbered(all)].length),
      outcome(() => other.count(all)),
      outcome(() => other.get(asBytes('k1'))?.length),
    ];
    await other.close();
    await reopen();
    return found;
  },

  async opening() {
    const other = new LmdbStore(folder);
    const { store, reopen, written } = await broken();
    await faultIsMet();
    while (outcome(() => store.get(asBytes('k1'))) !== 'StorageError') await nextTurn();
    const opened = outcome(() => new LmdbStore(folder)) instanceof LmdbStore;
    await other.close();
    const reopened = reopen().then(() => written);
    const late = new Promise((resolve) => setTimeout(() => resolve('never opened again'), 5_000).unref());
    return [opened, await Promise.race([reopened, late]), outcome(() => store.get(asBytes('k1'))?.length)];
  },

  /** What reads while the store is closed or replaced. */
  async closing() {
    const store = new LmdbStore(folder);
    await store.write(writes).flushed;
    const [left, resumed] = [store, store].map((each) => each.entries(all)[Symbol.iterator]()) as [
      Iterator<unknown>,
      Iterator<unknown>,
    ];
    left.next();
    resumed.next();
    await nextTurn();
    store.refresh();
    await store.close();
    const found = [outcome(() => left.return?.().done), outcome(() => resumed.next())];
    // Memory that was used after it was given back shows when others get it.
    const others = new LmdbStore(`${folder}/others`);
    await others.write(writes).flushed;
    await others.close();
    return found;
  },
};

try {
  process.stdout.write(JSON.stringify(await scenarios[process.argv[2]!]!()));
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
