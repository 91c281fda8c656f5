import assert from 'node:assert/strict';
import path from 'node:path';
import { Catalogue, groupsOf } from '../../src/node/catalogue.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import { smallBlob } from '../../src/shard/blob-record.js';
import { needsUpgrade } from '../../src/shard/upgrade-volume.js';
import { filesPrefix } from '../../src/shard/volume-blobs.js';
import { prefixEnd, type Store } from '../../src/storage/store.js';
import { asBytes, ByteReader } from '../../src/base/bytes.js';
import { checkDatabase, type Scan } from '../model/check-database.js';

const allNames = { inclusiveEnd: true, descending: false, skip: 0, limit: Infinity };

/**
 * Opens the data folder of a server that is not running, as the kill left it, and checks each database by a full
 * scan. Every key must belong to a database, or to one whose erasure is still to be done.
 */
export async function checkClosedFolder(folder: string): Promise<Map<string, Scan>> {
  const catalogue = new Catalogue(new LmdbStore(path.join(folder, 'catalogue')), () => {});
  const volumes = catalogue
    .generations()
    .map((generation, slot) => new LmdbStore(path.join(folder, 'documents', `${slot}.${generation}`)));
  try {
    const scans = new Map<string, Scan>();
    const known = catalogue.erasures();
    for (const name of catalogue.names(allNames)) {
      const record = catalogue.get(name)!;
      scans.set(
        name,
        checkDatabase((slot) => volumes[slot]!, record),
      );
      for (const { group, slot } of groupsOf(record)) known.push({ instance: group, slot });
    }
    for (const [slot, volume] of volumes.entries()) {
      const mine = new Set(known.filter((each) => each.slot === slot).map(({ instance }) => instance));
      for (const instance of instancesIn(volume)) {
        assert.ok(mine.has(instance), `the group ${instance} is of no database, and nothing will erase it`);
      }
    }
    for (const volume of volumes) checkFiles(volume);
    return scans;
  } finally {
    for (const volume of volumes) await volume.close();
    await catalogue.close();
  }
}

/** How many groups name a blob that is kept as a file, by the groups and by the volume. */
function checkFiles(volume: Store): void {
  if (needsUpgrade(volume)) return;
  const named = new Map<string, number>();
  for (const instance of instancesIn(volume)) {
    const { start, end } = new DatabaseKeys(instance).blobsRange;
    for (const { key, value } of volume.entries({ start, end })) {
      const digest = key.slice(start.length);
      if (smallBlob(value) === '') named.set(digest, (named.get(digest) ?? 0) + 1);
    }
  }
  const counted = [...volume.entries({ start: filesPrefix, end: prefixEnd(filesPrefix) })].map(
    ({ key, value }) => [key.slice(filesPrefix.length), new ByteReader(value).varint()] as const,
  );
  const byDigest = new Map([...named].sort(([a], [b]) => (a < b ? -1 : 1)));
  assert.deepEqual(new Map(counted), byDigest, 'groups that name a file');
}

/** The instance numbers that begin the keys of a volume; 0 is the volume's own. */
function* instancesIn(volume: Store): Iterable<number> {
  for (let start = '\0\0\0\0\x01'; ;) {
    const [key] = volume.keys({ start: asBytes(start), end: asBytes('\xff'), limit: 1 });
    if (key === undefined) return;
    const instance = Buffer.from(key.slice(0, 5), 'latin1').readUIntBE(0, 5);
    yield instance;
    start = new DatabaseKeys(instance).range.end;
  }
}
