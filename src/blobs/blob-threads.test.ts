import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { BlobThreads } from './blob-threads.js';

test('pieces stand in the file in their order, and the hashes are of all of them', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tuffet-threads-'));
  const threads = new BlobThreads(2);
  try {
    await Promise.all(
      Array.from({ length: 6 }, async (_, i) => {
        const name = path.join(folder, String(i));
        const handle = await open(name, 'ax');
        const bytes = randomBytes(250_000);
        const file = threads.begin();
        let buffer: Buffer = Buffer.allocUnsafeSlow(100_000);
        for (let at = 0; at < 200_000; at += 100_000) {
          bytes.copy(buffer, 0, at);
          const sent = buffer;
          buffer = await file.append(handle.fd, sent, 100_000);
          assert.equal(sent.length, 0, 'the buffer was away');
        }
        bytes.copy(buffer, 0, 200_000);
        const { hashed } = await file.finish(handle.fd, buffer, 50_000);
        await handle.close();
        assert.ok((await readFile(name)).equals(bytes));
        assert.equal(hashed.digest, createHash('sha256').update(bytes).digest('hex'));
        assert.deepEqual(hashed.md5, createHash('md5').update(bytes).digest());
      }),
    );
  } finally {
    await threads.close();
    await rm(folder, { recursive: true });
  }
});

test(
  'a full disk fails the upload that meets it, and no other',
  { skip: os.platform() !== 'linux' },
  async () => {
    const threads = new BlobThreads(1);
    const full = await open('/dev/full', 'a');
    const none = await open('/dev/null', 'a');
    try {
      const failing = threads.begin();
      const other = threads.begin();
      const buffer = (): Buffer => Buffer.allocUnsafeSlow(1000).fill(1);
      await assert.rejects(failing.append(full.fd, buffer(), 1000), {
        code: 'ENOSPC',
        message: /no space left/,
      });
      await failing.abort();
      const { hashed } = await other.finish(none.fd, buffer(), 1000);
      assert.equal(hashed.digest, createHash('sha256').update(buffer()).digest('hex'));
    } finally {
      await Promise.all([full.close(), none.close(), threads.close()]);
    }
  },
);

test('those who wait for a thread that ends hear of it', async () => {
  const threads = new BlobThreads(1);
  const none = await open('/dev/null', 'a');
  const file = threads.begin();
  const waiting = assert.rejects(file.append(none.fd, Buffer.allocUnsafeSlow(1000), 1000), /has ended/);
  await threads.close();
  await waiting;
  await file.abort();
  await none.close();
});
