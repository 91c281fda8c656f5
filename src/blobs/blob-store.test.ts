import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { smallBytesMax, type BlobStore, type StoredBlob } from './blob-store.js';
import { FileBlobStore } from './file-blob-store.js';
import { MemoryBlobStore } from './memory-blob-store.js';

const sizes = [1, 100, 4096, smallBytesMax, smallBytesMax + 1, 128 * 1024, 128 * 1024 + 1, 1_000_003];

async function store(blobs: BlobStore, bytes: Buffer, chunkBytes = 64 * 1024): Promise<StoredBlob> {
  const writer = blobs.begin();
  for (let at = 0; at < bytes.length; at += chunkBytes)
    await writer.write(bytes.subarray(at, at + chunkBytes));
  return await writer.finish();
}

async function load(
  blobs: BlobStore,
  digest: string,
  start?: number,
  end?: number,
): Promise<Buffer | undefined> {
  const reader = await blobs.read(digest, start, end);
  return reader && Buffer.concat(await Readable.from(reader).toArray());
}

const hash = (name: string, bytes: Buffer): Buffer => createHash(name).update(bytes).digest();
const sorted = async (blobs: BlobStore): Promise<string[]> =>
  (await Readable.from(blobs.list()).toArray()).sort();

function suite(name: string, withStore: (run: (blobs: BlobStore) => Promise<void>) => Promise<void>): void {
  const holds = (what: string, run: (blobs: BlobStore) => Promise<void>): void => {
    test(what, () => withStore(run));
  };

  describe(name, () => {
    holds('digest, MD5 and length are those of the bytes, however they are cut', async (blobs) => {
      for (const size of sizes) {
        const bytes = randomBytes(size);
        for (const chunkBytes of [size, 1000, 65_536, 70_001]) {
          const stored = await store(blobs, bytes, chunkBytes);
          assert.equal(stored.digest, hash('sha256', bytes).toString('hex'));
          assert.deepEqual(stored.md5, hash('md5', bytes));
          assert.equal(stored.length, size);
        }
      }
    });

    holds('small blobs are given back and not kept', async (blobs) => {
      const bytes = randomBytes(smallBytesMax);
      const stored = await store(blobs, bytes, 7);
      assert.deepEqual(stored.small, bytes);
      assert.equal(await blobs.has(stored.digest), false);
      const empty = await blobs.begin().finish();
      assert.equal(empty.small?.length, 0);
      assert.equal(empty.digest, hash('sha256', Buffer.alloc(0)).toString('hex'));
    });

    holds('large blobs are kept and read back, whole and in ranges', async (blobs) => {
      const bytes = randomBytes(700_000);
      const { digest, small } = await store(blobs, bytes);
      assert.equal(small, undefined);
      assert.equal(await blobs.has(digest), true);
      assert.deepEqual(await load(blobs, digest), bytes);
      for (const [start, end] of [
        [0, 1],
        [10, 300_000],
        [262_143, 262_145],
        [699_999, 700_000],
        [5, 5],
        [600_000, 9e9],
      ] as const) {
        assert.deepEqual(await load(blobs, digest, start, end), bytes.subarray(start, end));
      }
    });

    holds('the same bytes are kept once', async (blobs) => {
      const bytes = randomBytes(100_000);
      const all = await Promise.all(Array.from({ length: 20 }, () => store(blobs, bytes)));
      assert.equal(new Set(all.map(({ digest }) => digest)).size, 1);
      assert.deepEqual(await sorted(blobs), [all[0]!.digest]);
      assert.deepEqual(await load(blobs, all[0]!.digest), bytes);
    });

    holds('many blobs are written and read at once', async (blobs) => {
      const bodies = Array.from({ length: 200 }, (_, i) => randomBytes(60_000 + i * 1000));
      const all = await Promise.all(bodies.map((bytes) => store(blobs, bytes, 10_000)));
      assert.deepEqual(await sorted(blobs), all.map(({ digest }) => digest).sort());
      const back = await Promise.all(all.map(({ digest }) => load(blobs, digest)));
      back.forEach((bytes, i) => assert.ok(bytes?.equals(bodies[i]!)));
    });

    holds('an unknown blob is undefined, and a digest that is none is an error', async (blobs) => {
      assert.equal(await blobs.read('0'.repeat(64)), undefined);
      assert.equal(await blobs.has('0'.repeat(64)), false);
      assert.deepEqual(await blobs.remove(['0'.repeat(64)]), []);
      for (const digest of ['', '../../etc/passwd', 'A'.repeat(64)])
        await assert.rejects(async () => blobs.read(digest));
    });

    holds('an aborted blob leaves nothing, and the writer is over', async (blobs) => {
      for (const size of [10, 50_000, 500_000]) {
        const writer = blobs.begin();
        await writer.write(randomBytes(size));
        await writer.abort();
        await writer.abort();
        await assert.rejects(writer.write(randomBytes(1)), /finished or aborted/);
        await assert.rejects(writer.finish(), /finished or aborted/);
      }
      assert.deepEqual(await sorted(blobs), []);
    });

    holds('a leased blob is not removed until it is released', async (blobs) => {
      const one = await store(blobs, Buffer.alloc(50_000, 1));
      const again = await store(blobs, Buffer.alloc(50_000, 1));
      assert.deepEqual(await blobs.remove([one.digest]), [one.digest]);
      one.release();
      one.release();
      assert.deepEqual(await blobs.remove([one.digest]), [one.digest]);
      again.release();
      assert.deepEqual(await blobs.remove([one.digest]), []);
      assert.equal(await blobs.has(one.digest), false);
    });

    holds('a blob is not removed while it is read; leaving early or closing lets go of it', async (blobs) => {
      const { digest, release } = await store(blobs, randomBytes(1_000_000));
      release();
      const reader = (await blobs.read(digest))!;
      const iterator = reader[Symbol.asyncIterator]();
      await iterator.next();
      assert.deepEqual(await blobs.remove([digest]), [digest]);
      await iterator.return?.();
      const closed = (await blobs.read(digest))!;
      assert.equal(closed.length, 1_000_000);
      assert.deepEqual(await blobs.remove([digest]), [digest]);
      await closed.close();
      await closed.close();
      assert.deepEqual(await blobs.remove([digest]), []);
    });

    holds('writing and removing the same bytes at once never loses a leased blob', async (blobs) => {
      const bytes = randomBytes(40_000);
      const { digest, release } = await store(blobs, bytes);
      release();
      for (let round = 0; round < 50; round++) {
        const [stored] = await Promise.all([
          store(blobs, bytes),
          blobs.remove([digest]),
          new Promise((resolve) => setTimeout(resolve, round % 3)).then(() => blobs.remove([digest])),
        ]);
        assert.equal(await blobs.has(digest), true);
        stored.release();
      }
    });
  });
}

suite('memory blob store', (run) => run(new MemoryBlobStore()));

suite('file blob store', async (run) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tuffet-blobs-'));
  const blobs = await FileBlobStore.open(folder);
  try {
    await run(blobs);
  } finally {
    await blobs.close();
    await rm(folder, { recursive: true, force: true });
  }
});
