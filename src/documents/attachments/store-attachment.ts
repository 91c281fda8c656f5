import type { Bytes } from '../../base/bytes.js';
import { RequestError } from '../../base/errors.js';
import type { BlobWriter, StoredBlob } from '../../blobs/blob-store.js';
import {
  compressWhileWriting,
  storeCompressed,
  type CompressingWriter,
  type Identity,
} from '../../blobs/gzip.js';
import type { Config } from '../../config/config.js';
import type { Attachment } from '../../shard/content.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';

/** An attachment whose bytes are stored, and that no revision names yet. */
export interface StoredAttachment {
  attachment: Attachment;
  /** MD5 of the bytes as they were sent, in base64. */
  sentMd5: string;
  /** The stored bytes, where they are so few that they belong into the document's transaction. */
  small: Bytes | undefined;
  /** To be called when the document that names it is saved, or will not be. */
  release(): void;
}

export interface AttachmentSource {
  name: string;
  type: string;
  revpos: number;
  /** Whether the bytes come compressed, and are to be kept so. */
  gzip: boolean;
  bytes: AsyncIterable<Buffer> | Iterable<Buffer>;
}

/** Streams bytes into the blob store; compressible ones are compressed on the way. Leaves nothing behind when it fails. */
export async function storeAttachment(
  registry: DatabaseRegistry,
  source: AttachmentSource,
): Promise<StoredAttachment> {
  const { config } = registry;
  const bytesMax = config.number('couchdb/max_attachment_size');
  const writer = writerFor(config, registry.blobs.begin(), source);
  let length = 0;
  try {
    for await (const chunk of source.bytes) {
      length += chunk.length;
      if (length > bytesMax) throw attachmentTooLarge(source.name);
      await writer.write(chunk);
    }
    const { stored, identity } = await writer.finish();
    const { name, type, revpos } = source;
    const md5 = stored.md5.toString('base64');
    return {
      attachment: {
        name,
        type,
        revpos,
        md5,
        length: identity.length,
        storedLength: stored.length,
        gzip: writer.gzip,
        blob: stored.digest,
      },
      sentMd5: source.gzip ? md5 : identity.md5.toString('base64'),
      small: stored.small?.latin1Slice(0, stored.small.length),
      release: () => stored.release(),
    };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

export const attachmentTooLarge = (name: string): RequestError =>
  new RequestError('attachment_too_large', name);

type Writer = Pick<CompressingWriter, 'write' | 'abort'> & {
  gzip: boolean;
  finish(): Promise<{ stored: StoredBlob; identity: Identity }>;
};

function writerFor(config: Config, writer: BlobWriter, { gzip, type }: AttachmentSource): Writer {
  if (gzip) return withFlag(storeCompressed(writer), true);
  const level = config.number('attachments/compression_level');
  if (level > 0 && isCompressible(type, config.text('attachments/compressible_types'))) {
    return withFlag(compressWhileWriting(writer, level), true);
  }
  const finish = async (): ReturnType<Writer['finish']> => {
    const stored = await writer.finish();
    return { stored, identity: stored };
  };
  return { gzip: false, write: (chunk) => writer.write(chunk), abort: () => writer.abort(), finish };
}

const withFlag = (writer: CompressingWriter, gzip: boolean): Writer => ({
  gzip,
  write: (chunk) => writer.write(chunk),
  abort: () => writer.abort(),
  finish: () => writer.finish(),
});

/** Patterns are whole types, or a star in place of what follows the slash. */
function isCompressible(type: string, patterns: string): boolean {
  const plain = type.split(';')[0]!.trim().toLowerCase();
  return patterns.split(',').some((each) => {
    const pattern = each.trim().toLowerCase();
    return pattern.endsWith('/*') ? plain.startsWith(pattern.slice(0, -1)) : plain === pattern;
  });
}
