import fs from 'node:fs';
import path from 'node:path';
import { asBytes, type Bytes } from '../base/bytes.js';
import { DatabaseKeys } from '../shard/keys.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import type { Entry, Store } from '../storage/store.js';

/** A file of a copy: `documents/` and the number of the volume's slot, or `catalogue`. */
export interface CopiedFile {
  name: string;
  bytes: number;
}

interface Copied {
  copyTo(folder: string): Promise<void>;
}

/** What a copy has of each volume, where that is not all: the groups of a stream, and the place in it. */
export interface CopiedPart {
  groups(): readonly number[];
  place: Bytes;
}

/** Folders that stores are copied to before they are sent begin like this. */
export const copyPrefix = 'spool-copy-';

/** The line behind the last file. */
export const copyEnd = '{}';

/**
 * The stores of this node for another one, also while this one serves: for each a line of JSON that describes it, and its bytes.
 * Each store is as it was at one moment, and says itself up to where it has applied the streams. The catalogue comes last: what
 * it knows more of than a volume, the volume gets from the stream.
 */
export async function* copyStores(
  catalogue: Copied,
  volumes: Iterable<{ slot: number; store: Copied }>,
  folder: string,
  part?: CopiedPart,
): AsyncIterable<Buffer> {
  const scratch = fs.mkdtempSync(path.join(folder, copyPrefix));
  try {
    for (const { slot, store } of volumes) {
      const copied = part === undefined ? store : { copyTo: (to: string) => copyPart(store, part, to) };
      yield* copyOf(copied, `documents/${slot}`, path.join(scratch, String(slot)));
    }
    yield* copyOf(catalogue, 'catalogue', path.join(scratch, 'catalogue'));
    yield Buffer.from(`${copyEnd}\n`);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

async function* copyOf(store: Copied, name: string, folder: string): AsyncIterable<Buffer> {
  fs.mkdirSync(folder, { mode: 0o700 });
  await store.copyTo(folder);
  const file = path.join(folder, 'data.mdb');
  const { size } = fs.statSync(file);
  yield Buffer.from(`${JSON.stringify({ name, bytes: size } satisfies CopiedFile)}\n`);
  for await (const chunk of fs.createReadStream(file)) yield chunk as Buffer;
  fs.rmSync(folder, { recursive: true });
}

/** Keys that are read at a time, and their bytes. */
const keysMax = 1_000;
const bytesMax = 4 * 1024 * 1024;

/** Copies the whole first: only that is of one moment. */
async function copyPart(store: Copied, { groups, place }: CopiedPart, folder: string): Promise<void> {
  const whole = `${folder}-whole`;
  fs.mkdirSync(whole, { mode: 0o700 });
  await store.copyTo(whole);
  const [from, to] = [new LmdbStore(whole), new LmdbStore(folder)];
  try {
    await to.write([{ key: place, value: from.get(place) }]).flushed;
    // Those that were made until now may be in the copy, and the place be behind their first commands.
    for (const group of groups())
      for (const entries of groupEntries(from, group)) await to.write(entries).flushed;
  } finally {
    await from.close();
    await to.close();
    fs.rmSync(whole, { recursive: true, force: true });
  }
}

/** All keys of a group with their values, in parts. */
export function* groupEntries(store: Pick<Store, 'list'>, group: number): Iterable<Entry[]> {
  const { start, end } = new DatabaseKeys(group).range;
  for (let next = start; ;) {
    const entries = store.list({ start: next, end, limit: keysMax }, bytesMax);
    const last = entries.at(-1);
    if (last === undefined) return;
    yield entries;
    next = asBytes(`${last.key}\0`);
  }
}
