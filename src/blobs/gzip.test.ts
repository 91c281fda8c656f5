import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { BlobWriter } from './blob-store.js';
import { compressWhileWriting, gunzipped, storeCompressed, type CompressingWriter } from './gzip.js';
import { MemoryBlobStore } from './memory-blob-store.js';

const md5 = (bytes: Buffer): Buffer => createHash('md5').update(bytes).digest();
const text = Buffer.from('a line of text that comes again and again, with a number: 12345\n'.repeat(20_000));

async function* inChunks(bytes: Buffer, chunkBytes = 10_000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

async function writeAll(writer: CompressingWriter, bytes: Buffer): Promise<void> {
  for await (const chunk of inChunks(bytes)) await writer.write(chunk);
}

test('text is stored compressed, with the hashes and lengths of both forms', async () => {
  for (const plain of [text, randomBytes(200_000), Buffer.from('short'), Buffer.alloc(0)]) {
    const blobs = new MemoryBlobStore();
    const writer = compressWhileWriting(blobs.begin(), 8);
    await writeAll(writer, plain);
    const { stored, identity } = await writer.finish();
    const reader =
      stored.small ?? Buffer.concat(await Readable.from((await blobs.read(stored.digest))!).toArray());
    assert.ok(gunzipSync(reader).equals(plain));
    assert.equal(stored.length, reader.length);
    assert.deepEqual(stored.md5, md5(reader));
    assert.deepEqual(identity, { md5: md5(plain), length: plain.length });
  }
});

test('what comes compressed is stored as it is and measured', async () => {
  const packed = gzipSync(text);
  const writer = storeCompressed(new MemoryBlobStore().begin());
  await writeAll(writer, packed);
  const { stored, identity } = await writer.finish();
  assert.deepEqual(stored.md5, md5(packed));
  assert.deepEqual(identity, { md5: md5(text), length: text.length });
});

test('what is not gzip is refused, also with a valid beginning', async () => {
  const packed = gzipSync(randomBytes(300_000));
  for (const bad of [
    text,
    packed.subarray(0, -5),
    Buffer.from('x'),
    Buffer.concat([packed.subarray(0, 200_000), text]),
  ]) {
    const writer = storeCompressed(new MemoryBlobStore().begin());
    await assert.rejects(
      async () => {
        await writeAll(writer, bad);
        await writer.finish();
      },
      { error: 'bad_request', reason: 'The attachment is not properly gzipped.' },
    );
    await writer.abort();
  }
});

test('bytes behind the end of the compressed ones do not stall', async () => {
  const writer = storeCompressed(new MemoryBlobStore().begin());
  await writeAll(writer, Buffer.concat([gzipSync(text), Buffer.alloc(500_000)]));
  assert.equal((await writer.finish()).identity.length, text.length);
});

test('plain bytes come out of compressed ones, whole and in ranges', async () => {
  const packed = gzipSync(text);
  for (const [start, end] of [
    [0, Infinity],
    [0, 1],
    [100_000, 100_010],
    [text.length - 1, Infinity],
    [5, 5],
  ] as const) {
    const pieces = await Readable.from(gunzipped(inChunks(packed, 1000), start, end)).toArray();
    assert.ok(Buffer.concat(pieces).equals(text.subarray(start, Math.min(end, text.length))));
  }
});

test('leaving early closes the source', async () => {
  let closed = false;
  const source = async function* (): AsyncGenerator<Buffer> {
    try {
      yield* inChunks(gzipSync(randomBytes(1_000_000)), 1000);
    } finally {
      closed = true;
    }
  };
  for await (const piece of gunzipped(source())) if (piece.length > 0) break;
  for (let i = 0; i < 10 && !closed; i++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(closed, true);
});

test('damaged bytes are an error of the reader', async () => {
  const damaged = gzipSync(text);
  damaged.fill(0xff, 100, 200);
  await assert.rejects(Readable.from(gunzipped(inChunks(damaged))).toArray());
});

test('a failing writer fails the compressing one', async () => {
  const failing: BlobWriter = {
    write: () => Promise.reject(new Error('disk full')),
    finish: () => Promise.reject(new Error('unreachable')),
    abort: () => Promise.resolve(),
  };
  const writer = compressWhileWriting(failing, 1);
  await assert.rejects(async () => {
    for (let i = 0; i < 100; i++) await writer.write(randomBytes(50_000));
    await writer.finish();
  }, /disk full/);
  await writer.abort();
});
