import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { asBytes, type Bytes } from '../../src/base/bytes.js';
import { CorruptRecord } from '../../src/base/corrupt-record.js';
import { damagedKeys } from '../../src/operations/check/damaged-records.js';
import { openHead } from '../../src/storage/lmdb-file.js';
import { lmdbProblem } from '../../src/storage/lmdb-pages.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import type { Range, Store } from '../../src/storage/store.js';
import { temporaryFolder } from '../support/server.js';
import { put } from './entries.js';
import { nodesOf, type Node } from './lmdb-nodes.js';

const pageSize = 7;
/** More steps than any walk over the store takes. */
const stepsMax = 1_000;

const keyOf = (n: number): Bytes => asBytes(`key${String(n).padStart(4, '0')}`);
const [first, last] = [asBytes('key'), asBytes('kez')];
const keyCount = 300;

async function filled(): Promise<string> {
  const folder = path.join(temporaryFolder(), 'store');
  const store = new LmdbStore(folder);
  await put(
    store,
    Array.from({ length: keyCount }, (_, n) => ({ key: keyOf(n), value: asBytes('v'.repeat(200)) })),
  );
  await store.close();
  return folder;
}

/** Which key is changed by one byte, so that it comes to stand between two others; other keys of its page keep their order. */
interface Damage {
  node: Node;
  above: string;
  below: string;
}

type Choice = (root: Node[], leafOf: (node: Node) => Node[]) => Damage;

function apply({ node: { keyAt, key }, above, below }: Damage, file: Buffer): void {
  for (let at = 0; at < key.length; at++)
    for (let byte = 0; byte < 256; byte++) {
      const changed = `${key.slice(0, at)}${String.fromCharCode(byte)}${key.slice(at + 1)}`;
      if (changed === key || changed <= above || changed >= below) continue;
      file[keyAt + at] = byte;
      return;
    }
  assert.fail(`${key} does not come between ${above} and ${below}`);
}

async function damaged(choose: Choice): Promise<string> {
  const folder = await filled();
  const name = path.join(folder, 'data.mdb');
  const fd = fs.openSync(name, 'r');
  const head = openHead(fd)!;
  fs.closeSync(fd);
  assert.equal(head.main.depth, 2);
  const file = fs.readFileSync(name);
  const nodes = (page: number): Node[] => nodesOf(file, page, head.pageBytes);
  apply(
    choose(nodes(head.main.root), ({ child }) => nodes(child)),
    file,
  );
  fs.writeFileSync(name, file);
  return folder;
}

const choices: Record<string, Choice> = {
  'a branch leads to the page before the right one': (root, leafOf) => ({
    node: root[4]!,
    above: leafOf(root[4]!)[1]!.key,
    below: root[5]!.key,
  }),
  'a branch leads to the page after the right one': (root, leafOf) => ({
    node: root[4]!,
    above: root[3]!.key,
    below: leafOf(root[3]!).at(-1)!.key,
  }),
  'the first key of a page is before those that lead to it': (root, leafOf) => ({
    node: leafOf(root[4]!)[0]!,
    above: first,
    below: root[4]!.key,
  }),
  'the last key of a page is behind those that lead to it': (root, leafOf) => ({
    node: leafOf(root[4]!).at(-1)!,
    above: root[5]!.key,
    below: last,
  }),
};

/** Reads all of a store in parts, each of which begins behind the end of the one before. */
function inParts(read: (range: Range) => Bytes[], reverse: boolean): number {
  let range: Range = { start: first, end: last, limit: pageSize, reverse };
  for (let steps = 1; steps < stepsMax; steps++) {
    const key = read(range).at(-1);
    if (key === undefined) return steps;
    range = reverse ? { ...range, end: key } : { ...range, start: asBytes(`${key}\0`) };
  }
  return stepsMax;
}

const readings: Record<string, (store: Store) => (range: Range) => Bytes[]> = {
  keys: (store) => (range) => [...store.keys(range)],
  entries: (store) => (range) => Array.from(store.entries(range), ({ key }) => key),
  list: (store) => (range) => store.list(range, Infinity).map(({ key }) => key),
};

for (const [name, choice] of Object.entries(choices)) {
  test(`${name}: the check finds it`, async () => {
    const folder = await damaged(choice);
    assert.match(
      lmdbProblem(path.join(folder, 'data.mdb'))!,
      /is damaged: its page \d+ is not as it should be/,
    );
  });

  test(`${name}: whoever reads comes to an end`, async () => {
    const store = new LmdbStore(await damaged(choice));
    try {
      for (const [how, reading] of Object.entries(readings))
        for (const reverse of [false, true]) {
          try {
            assert.ok(inParts(reading(store), reverse) < stepsMax, `${how} goes round in a circle`);
          } catch (error) {
            if (!(error instanceof CorruptRecord)) throw error;
          }
        }
      try {
        assert.ok(damagedKeys(store).length <= 1);
      } catch (error) {
        if (!(error instanceof CorruptRecord)) throw error;
      }
    } finally {
      await store.close();
    }
  });
}

test('a range whose pages are in order is read as before', async () => {
  const folder = await filled();
  assert.equal(lmdbProblem(path.join(folder, 'data.mdb')), undefined);
  const store = new LmdbStore(folder);
  const steps = Math.ceil(keyCount / pageSize) + 1;
  for (const reading of Object.values(readings))
    for (const reverse of [false, true]) assert.equal(inParts(reading(store), reverse), steps);
  await store.close();
});
