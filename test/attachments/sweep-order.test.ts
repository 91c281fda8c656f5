import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { submit } from '../support/submit.js';
import { MemoryBlobStore } from '../../src/blobs/memory-blob-store.js';
import type { StoredBlob } from '../../src/blobs/blob-store.js';
import { discardUnneeded, sweepReleased, type BlobOwner } from '../../src/node/sweep-blobs.js';
import { encodeContent } from '../../src/shard/content.js';
import { Volume } from '../../src/shard/volume.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import type { Commit, Write } from '../../src/storage/store.js';
import { fileSize, noise } from './attachment-client.js';

const bytes = noise(fileSize);
const instance = 1;
const shard = 0;

/** Takes its time to reach the disk, as disks do. */
class SlowStore extends MemoryStore {
  override write(batch: readonly Write[]): Commit {
    const { flushed } = super.write(batch);
    const later = flushed.then(() => new Promise<void>((resolve) => setTimeout(resolve, 30)));
    return { committed: later, flushed: later };
  }
}

async function upload(blobs: MemoryBlobStore): Promise<StoredBlob> {
  const writer = blobs.begin();
  await writer.write(bytes);
  return await writer.finish();
}

/** Saves a document that names the blob, as an upload does: the lease ends when that is committed. */
async function save(volume: Volume, id: string, blob: StoredBlob): Promise<{ pos: number; hash: string }> {
  const attachment = {
    name: 'f',
    type: 'image/png',
    revpos: 1,
    md5: blob.md5.toString('base64'),
    length: blob.length,
    storedLength: blob.length,
    gzip: false,
    blob: blob.digest,
  };
  const body = encodeContent([attachment], asBytes('{}'));
  const edits = [{ id: asBytes(id), parent: undefined, path: undefined, deleted: false, body }] as const;
  const [rev] = await submit(volume, {
    type: 'edit',
    instance,
    shard,
    edits: [...edits],
    revs_limit: 1000,
    stored_blobs: new Set([blob.digest]),
  });
  blob.release();
  assert.ok(typeof rev === 'object');
  return rev;
}

for (const [where, volumesOf] of [
  [
    'into another volume',
    () => [new Volume(0, new SlowStore(), noop), new Volume(1, new MemoryStore(), noop)],
  ],
  ['into the same volume', () => [new Volume(0, new SlowStore(), noop)]],
] as const) {
  test(`bytes that come back ${where} while they are swept stay`, async () => {
    const blobs = new MemoryBlobStore();
    const volumes: Volume[] = volumesOf();
    const owner: BlobOwner = {
      blobs,
      isClosing: false,
      volumes: () => volumes,
      needsBlob: (blob) => volumes.some((volume) => volume.namesFile(blob)),
    };
    const first = await upload(blobs);
    const rev = await save(volumes[0]!, 'gone', first);
    const purges = [{ id: asBytes('gone'), revs: [rev] }];
    await submit(volumes[0]!, { type: 'purge', instance, shard, uuid: 'u', purges });

    const sweeping = sweepReleased(owner);
    await save(volumes.at(-1)!, 'back', await upload(blobs));
    await sweeping;
    assert.equal(owner.needsBlob(first.digest), true, 'a document names them');
    assert.equal(await blobs.has(first.digest), true, 'and they are there');
  });
}

function noop(): void {}

test('blobs of a document that is stored are kept, and its save does not fail, where no volume can be read', async () => {
  const blobs = new MemoryBlobStore();
  const blob = await upload(blobs);
  blob.release();
  const owner: BlobOwner = {
    blobs,
    isClosing: false,
    volumes: () => [],
    needsBlob: () => {
      throw new Error('the disk failed');
    },
  };
  await discardUnneeded(owner, [blob.digest]);
  assert.ok(await blobs.has(blob.digest));
});
