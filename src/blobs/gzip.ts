import { createHash } from 'node:crypto';
import { pipeline, Readable, type Writable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { badRequest } from '../base/errors.js';
import type { BlobWriter, StoredBlob } from './blob-store.js';

/** What the client sent, as opposed to what is stored. */
export interface Identity {
  readonly md5: Buffer;
  readonly length: number;
}

export interface CompressedBlob {
  readonly stored: StoredBlob;
  readonly identity: Identity;
}

/** A blob that is written plain and stored compressed. The rules of `BlobWriter` hold. */
export interface CompressingWriter {
  write(chunk: Buffer): Promise<void>;
  finish(): Promise<CompressedBlob>;
  abort(): Promise<void>;
}

/** Compresses on the way into `writer`. `level` is zlib's, 1 to 9. */
export function compressWhileWriting(writer: BlobWriter, level: number): CompressingWriter {
  const md5 = createHash('md5');
  let length = 0;
  const gzip = createGzip({ level });
  const stored = drain(gzip, writer);
  // Reported by the next write or by finish.
  stored.catch(() => undefined);
  return {
    async write(chunk) {
      md5.update(chunk);
      length += chunk.length;
      if (gzip.write(chunk)) return;
      await Promise.race([drained(gzip), stored]);
    },
    async finish() {
      gzip.end();
      await stored;
      return { stored: await writer.finish(), identity: { md5: md5.digest(), length } };
    },
    async abort() {
      gzip.destroy();
      await stored.catch(() => undefined);
      await writer.abort();
    },
  };
}

/** Never fails: errors are reported at the other end of the stream. */
function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => void stream.once('drain', resolve));
}

async function drain(gzip: AsyncIterable<Buffer>, writer: BlobWriter): Promise<void> {
  for await (const piece of gzip) await writer.write(piece);
}

/** Bytes that came compressed and are stored as they are, unpacked on the side to learn what they hold. */
export function storeCompressed(writer: BlobWriter): CompressingWriter {
  const gunzip = createGunzip();
  const measured = measure(gunzip);
  let isMeasured = false;
  const over = (): void => void (isMeasured = true);
  measured.then(over, over);
  return {
    async write(chunk) {
      await writer.write(chunk);
      // Trailing bytes behind the gzip stream are stored too, but never decompressed.
      if (isMeasured) await measured;
      else if (!gunzip.write(chunk)) await Promise.race([drained(gunzip), measured]);
    },
    async finish() {
      gunzip.end();
      const identity = await measured;
      return { stored: await writer.finish(), identity };
    },
    async abort() {
      gunzip.destroy();
      await measured.catch(() => undefined);
      await writer.abort();
    },
  };
}

async function measure(plain: AsyncIterable<Buffer>): Promise<Identity> {
  const md5 = createHash('md5');
  let length = 0;
  try {
    for await (const piece of plain) {
      md5.update(piece);
      length += piece.length;
    }
  } catch {
    throw badRequest('The attachment is not properly gzipped.');
  }
  return { md5: md5.digest(), length };
}

/** The plain bytes `start` up to, not including, `end` of compressed ones. Stops reading when it has them. */
export async function* gunzipped(
  chunks: AsyncIterable<Buffer>,
  start = 0,
  end = Infinity,
): AsyncGenerator<Buffer> {
  // A failure of either comes out of the iteration below.
  const plain = pipeline(Readable.from(chunks, { objectMode: false }), createGunzip(), () => undefined);
  let at = 0;
  for await (const piece of plain as AsyncIterable<Buffer>) {
    const wanted = piece.subarray(Math.max(0, start - at), Math.max(0, end - at));
    at += piece.length;
    if (wanted.length > 0) yield wanted;
    if (at >= end) return;
  }
}
