import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { openHead } from '../../src/storage/lmdb-file.js';
import { lmdbProblem } from '../../src/storage/lmdb-pages.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { Random, seed } from '../model/random.js';
import { temporaryFolder } from '../support/server.js';
import { put } from './entries.js';
import { nodesOf } from './lmdb-nodes.js';

const random = new Random(seed);
const keyCount = 2_000;
const batches = 60;
const batchKeys = 50;
const valueBytesMax = 600;
/** Some stand on pages of their own. */
const largeBytes = 20_000;

async function writeSome(store: LmdbStore): Promise<void> {
  const held = random.below(4) === 0 ? store.snapshot() : undefined;
  const keys = new Set(Array.from({ length: batchKeys }, () => `key${random.below(keyCount)}`));
  const valueOf = (): string => 'v'.repeat(random.below(10) === 0 ? largeBytes : random.below(valueBytesMax));
  await put(
    store,
    Array.from(keys, (key) => ({
      key: asBytes(key),
      value: random.below(3) === 0 ? undefined : asBytes(valueOf()),
    })),
  );
  held?.release();
}

async function written(): Promise<string> {
  const folder = path.join(temporaryFolder(), 'store');
  const store = new LmdbStore(folder);
  for (let n = 0; n < batches; n++) await writeSome(store);
  await store.close();
  return path.join(folder, 'data.mdb');
}

/** Has the last list of free pages name one page alone. */
function changeFree(file: string, entryOf: (usedPage: number, lastPage: number) => bigint): void {
  const fd = fs.openSync(file, 'r');
  const { free, main, lastPage, pageBytes } = openHead(fd)!;
  fs.closeSync(fd);
  assert.equal(free.depth, 1);
  const bytes = fs.readFileSync(file);
  const { valueAt, valueBytes } = nodesOf(bytes, free.root, pageBytes).at(-1)!;
  assert.ok(valueBytes >= 16, 'there is no free page');
  bytes.writeBigInt64LE(1n, valueAt);
  bytes.writeBigInt64LE(entryOf(main.root, lastPage), valueAt + 8);
  fs.writeFileSync(file, bytes);
}

test(`whatever was written and read, no page is in use twice (seed ${seed})`, async () => {
  const folder = path.join(temporaryFolder(), 'store');
  const file = path.join(folder, 'data.mdb');
  let store = new LmdbStore(folder);
  for (let n = 0; n < batches; n++) {
    await writeSome(store);
    assert.equal(lmdbProblem(file), undefined);
    if (random.below(10) > 0) continue;
    await store.close();
    store = new LmdbStore(folder);
  }
  await store.close();
});

test('a page in use that a list of free ones names is found', async () => {
  const file = await written();
  changeFree(file, (usedPage) => BigInt(usedPage));
  assert.match(lmdbProblem(file)!, /^is damaged: its page \d+ is in use twice$/);
});

test('a free page that there is not is found', async () => {
  const file = await written();
  changeFree(file, (_, lastPage) => BigInt(lastPage) + 1n);
  assert.match(lmdbProblem(file)!, /^is damaged: it has no page \d+$/);
});
