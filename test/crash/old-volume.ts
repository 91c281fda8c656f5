import { asBytes, ByteReader, noBytes, varint, type Bytes } from '../../src/base/bytes.js';
import type { Edit } from '../../src/shard/commands.js';
import { encodeContent } from '../../src/shard/content.js';
import { DatabaseKeys, tables } from '../../src/shard/keys.js';
import { versionWrite } from '../../src/shard/upgrade-volume.js';
import { filesPrefix } from '../../src/shard/volume-blobs.js';
import { Volume } from '../../src/shard/volume.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import type { Entry, Store } from '../../src/storage/store.js';
import { RandomCommands } from '../log/random-commands.js';
import { Random } from '../model/random.js';
import { submit } from '../support/submit.js';

export const everything = { start: asBytes('\0\0\0'), end: asBytes('\xff'.repeat(6)) };

/** The contents of a volume of this version: databases that share blobs, one of them with thousands. */
export async function volumeContents(seed: number): Promise<Entry[]> {
  const store = new MemoryStore();
  const volume = new Volume(0, store, () => {});
  const source = new RandomCommands(new Random(seed));
  for (let n = 0; n < 400; n++) {
    const command = source.next();
    source.learn(command, await submit(volume, command));
  }
  for (const shard of [0, 1]) await saveMany(volume, 3, shard);
  await saveMany(volume, 4, 0);
  await store.write([versionWrite]).flushed;
  return [...store.entries(everything)];
}

const smallBytes = asBytes('x'.repeat(15_000));
const digest = (n: number): string => n.toString(16).padStart(64, '0');

/** Documents with 3,000 files and 600 small blobs. */
async function saveMany(volume: Volume, instance: number, shard: number): Promise<void> {
  const sizes = { length: 5, storedLength: 5, revpos: 1 };
  const small = new Map(Array.from({ length: 600 }, (_, n): [string, Bytes] => [digest(n), smallBytes]));
  const edits = Array.from({ length: 36 }, (_, doc): Edit => {
    const attachments = Array.from({ length: 100 }, (_, at) => {
      const blob = digest(doc * 100 + at);
      return { name: `${at}`, type: 't', md5: 'm', gzip: false, blob, ...sizes };
    });
    const body = encodeContent(attachments, asBytes('{}'));
    return { id: asBytes(`${shard} ${doc}`), parent: undefined, path: undefined, deleted: false, body };
  });
  const stored_blobs = new Set(Array.from({ length: 3_000 }, (_, n) => digest(600 + n)));
  await submit(volume, {
    type: 'edit',
    instance,
    shard,
    revs_limit: 10,
    edits,
    small_blobs: small,
    stored_blobs,
  });
}

/** The same volume as version 1 has it: the volume counts the shards of all groups, and has the bytes of small blobs. */
export function asVersionOne(entries: readonly Entry[]): Entry[] {
  const blobs = new Map<Bytes, { shards: number; bytes: Bytes }>();
  const old: Entry[] = [];
  for (const entry of entries) {
    const { key, value } = entry;
    const isGroup = !key.startsWith('\0\0\0\0\0');
    if (isGroup && key.charCodeAt(5) === tables.blobs) {
      const reader = new ByteReader(value);
      const name = key.slice(6);
      const known = blobs.get(name) ?? { shards: 0, bytes: noBytes };
      const shards = known.shards + reader.varint();
      blobs.set(name, { shards, bytes: known.bytes === '' ? reader.rest() : known.bytes });
    } else if (key !== versionWrite.key && !key.startsWith(filesPrefix)) old.push(entry);
  }
  for (const [name, { shards, bytes }] of blobs)
    old.push({ key: asBytes(`\0\0\0\0\0b${name}`), value: asBytes(varint(shards) + bytes) });
  return old;
}

/** How many blobs a group has. */
export const blobsOf = (store: Store, instance: number): number =>
  store.count(new DatabaseKeys(instance).blobsRange);
