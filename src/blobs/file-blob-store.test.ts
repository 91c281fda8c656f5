import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { FileBlobStore } from './file-blob-store.js';

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tuffet-blobs-'));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const temporaries = (folder: string): Promise<string[]> => readdir(path.join(folder, 'tmp'));

test('a blob lies where its digest says, and outlives the store that wrote it', () =>
  withFolder(async (folder) => {
    const blobs = await FileBlobStore.open(folder);
    const bytes = randomBytes(300_000);
    const writer = blobs.begin();
    await writer.write(bytes);
    const { digest } = await writer.finish();
    await blobs.close();
    assert.ok((await readFile(path.join(folder, digest.slice(0, 2), digest.slice(2)))).equals(bytes));
    assert.deepEqual(await temporaries(folder), []);
    const again = await FileBlobStore.open(folder);
    assert.deepEqual(await Readable.from(again.list()).toArray(), [digest]);
    await again.close();
  }));

test('with two files open at most, any number of slow uploads make progress', () =>
  withFolder(async (folder) => {
    const blobs = await FileBlobStore.open(folder, 2);
    const writers = Array.from({ length: 12 }, () => blobs.begin());
    const hashes = writers.map(() => createHash('sha256'));
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        writers.map(async (writer, i) => {
          const chunk = randomBytes(50_000);
          hashes[i]!.update(chunk);
          await writer.write(chunk);
        }),
      );
    }
    const stored = await Promise.all(writers.map((writer) => writer.finish()));
    assert.deepEqual(
      stored.map(({ digest }) => digest),
      hashes.map((hash) => hash.digest('hex')),
    );
    for (const { digest } of stored) {
      const bytes = await readFile(path.join(folder, digest.slice(0, 2), digest.slice(2)));
      assert.equal(createHash('sha256').update(bytes).digest('hex'), digest);
    }
    assert.deepEqual(await temporaries(folder), []);
    await blobs.close();
  }));

test('200 uploads of 1 MB at once hold two buffers each, however large the chunks', () =>
  withFolder(async (folder) => {
    const blobs = await FileBlobStore.open(folder);
    const chunk = randomBytes(64 * 1024);
    const before = process.memoryUsage().rss;
    let most = 0;
    await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const writer = blobs.begin();
        await writer.write(Buffer.from(String(i)));
        for (let part = 0; part < 16; part++) {
          await writer.write(chunk);
          most = Math.max(most, process.memoryUsage.rss() - before);
        }
        await writer.finish();
      }),
    );
    assert.ok(most < 120 << 20, `memory grew by ${most >> 20} MB`);
    await blobs.close();
  }));

test('a failing disk fails the upload and leaves nothing behind', () =>
  withFolder(async (folder) => {
    const blobs = await FileBlobStore.open(folder);
    const writer = blobs.begin();
    await rm(path.join(folder, 'tmp'), { recursive: true });
    await assert.rejects(
      async () => {
        for (let i = 0; i < 10; i++) await writer.write(randomBytes(100_000));
        await writer.finish();
      },
      { code: 'ENOENT' },
    );
    await writer.abort();
    assert.deepEqual(await Readable.from(blobs.list()).toArray(), []);
    await blobs.close();
  }));

test('the sweep takes what dead processes left, and nothing else', () =>
  withFolder(async (folder) => {
    const first = await FileBlobStore.open(folder);
    const own = first.begin();
    await own.write(randomBytes(500_000));
    await own.write(randomBytes(500_000));
    const mine = await temporaries(folder);
    assert.equal(mine.length, 1);
    const living = `${process.ppid}-0123456789ab-0`;
    const reused = `${process.ppid}-0123456789ab-1`;
    const tmp = path.join(folder, 'tmp');
    for (const name of ['4194305-0123456789ab-0', `${process.pid}-0123456789ab-0`, 'stray', living, reused]) {
      await writeFile(path.join(tmp, name), 'x');
    }
    await utimes(path.join(tmp, reused), 0, 0);
    const second = await FileBlobStore.open(folder);
    assert.deepEqual((await temporaries(folder)).sort(), [...mine, living].sort());
    await own.abort();
    await first.close();
    await second.close();
  }));

async function put(blobs: FileBlobStore, bytes: Buffer): Promise<string> {
  const writer = blobs.begin();
  await writer.write(bytes);
  const { digest, release } = await writer.finish();
  release();
  return digest;
}

test('a torn file that has the name of a blob is replaced when the blob is sent', () =>
  withFolder(async (folder) => {
    const bytes = randomBytes(300_000);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const place = path.join(folder, digest.slice(0, 2), digest.slice(2));
    await mkdir(path.dirname(place));
    for (const torn of [Buffer.alloc(0), bytes.subarray(0, 100_000), Buffer.alloc(300_000)]) {
      // When the store is opened, such a file cannot be told from a complete one.
      await writeFile(place, torn);
      const blobs = await FileBlobStore.open(folder);
      assert.equal(await put(blobs, bytes), digest);
      assert.ok((await readFile(place)).equals(bytes), `${torn.length} bytes were there`);
      assert.deepEqual(await temporaries(folder), []);
      await blobs.close();
    }
  }));

test('a blob known to be there is not written again; one whose file was removed is', () =>
  withFolder(async (folder) => {
    const blobs = await FileBlobStore.open(folder);
    const bytes = randomBytes(300_000);
    const digest = await put(blobs, bytes);
    const place = path.join(folder, digest.slice(0, 2), digest.slice(2));
    const { ino } = await stat(place);
    await put(blobs, bytes);
    assert.equal((await stat(place)).ino, ino);
    await rm(place);
    await put(blobs, bytes);
    assert.ok((await readFile(place)).equals(bytes));
    assert.deepEqual(await blobs.remove([digest]), []);
    await put(blobs, bytes);
    assert.ok((await readFile(place)).equals(bytes));
    assert.deepEqual(await temporaries(folder), []);
    await blobs.close();
  }));

/** Uploads without end, and says which blobs are finished. */
const uploader = (folder: string): string => `
  import { randomBytes } from 'node:crypto';
  import { writeSync } from 'node:fs';
  import { FileBlobStore } from ${JSON.stringify(new URL('./file-blob-store.js', import.meta.url).href)};
  const blobs = await FileBlobStore.open(${JSON.stringify(folder)});
  await Promise.all(Array.from({ length: 8 }, async () => {
    for (;;) {
      const writer = blobs.begin();
      for (let i = 0; i < 10; i++) await writer.write(randomBytes(50_000));
      writeSync(1, (await writer.finish()).digest + '\\n');
    }
  }));`;

test('a killed process leaves whole blobs and, after the sweep, nothing else', () =>
  withFolder(async (folder) => {
    const finished: string[] = [];
    for (let round = 0; round < 3; round++) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', uploader(folder)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.on('data', (text: Buffer) => {
        output += text.toString();
        if (output.length > 65 * 20) child.kill('SIGKILL');
      });
      await once(child, 'close');
      finished.push(...output.split('\n').filter((line) => line.length === 64));
      if (round === 0) assert.ok((await temporaries(folder)).length > 0, 'the kill came between uploads');
    }
    const blobs = await FileBlobStore.open(folder);
    assert.deepEqual(await temporaries(folder), []);
    const listed = await Readable.from(blobs.list()).toArray();
    assert.ok(finished.length >= 60, `${finished.length} blobs`);
    assert.deepEqual(
      finished.filter((digest) => !listed.includes(digest)),
      [],
    );
    for (const digest of listed) {
      const file = path.join(folder, digest.slice(0, 2), digest.slice(2));
      assert.equal((await stat(file)).size, 500_000);
      assert.equal(
        createHash('sha256')
          .update(await readFile(file))
          .digest('hex'),
        digest,
      );
    }
    await blobs.close();
  }));
