import { fromBytes, type Bytes } from '../../base/bytes.js';
import { notFound, RequestError } from '../../base/errors.js';
import { BlobDamage, type BlobReader } from '../../blobs/blob-store.js';
import { gunzipped } from '../../blobs/gzip.js';
import { find, pathOf } from '../../revisions/tree.js';
import { formatRev, type Rev } from '../../revisions/rev.js';
import { attachmentsOf, type Attachment } from '../../shard/content.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { Database } from '../../node/database.js';
import { shown, type Show } from '../../node/read-gate.js';

/** The attachment of that name of the winning revision, or of the one that is named. */
export function findAttachment(
  database: Database,
  id: Bytes,
  name: string,
  rev: Rev | undefined,
  show?: Show,
): Attachment {
  const found = contentOf(database, id, rev, show).attachments.find((each) => each.name === name);
  if (found === undefined) throw notFound('Document is missing attachment');
  return found;
}

/** What a revision holds; of a deleted document only by name. */
export function contentOf(
  database: Database,
  id: Bytes,
  rev: Rev | undefined,
  show?: Show,
): { rev: Rev; content: Bytes; deleted: boolean; attachments: Attachment[] } {
  const doc = database.collection.doc(id);
  if (doc === undefined) throw notFound('missing');
  if (rev === undefined && doc.deleted) throw notFound('deleted');
  const node = find(doc.tree, rev ?? doc.rev);
  const stored = node && database.collection.body(database.shardOf(id), doc, node);
  if (node === undefined || stored === undefined) throw notFound('missing');
  const content = shown(show, id, stored);
  return { rev: node, content, deleted: node.deleted, attachments: attachmentsOf(content) };
}

/**
 * The generation up to which a client that knows the named revisions has a revision's attachments already: the newest
 * of its ancestors among them.
 */
export function knownSince(database: Database, id: Bytes, rev: Rev, since: readonly Rev[]): number {
  const doc = database.collection.doc(id);
  const node = doc && find(doc.tree, rev);
  if (doc === undefined || node === undefined) return 0;
  const named = new Set(since.map(formatRev));
  return pathOf(doc.tree, node).find((each) => named.has(formatRev(each)))?.pos ?? 0;
}

/** The stored bytes `start` up to, not including, `end`: compressed where they are kept so. */
async function readStored(
  registry: DatabaseRegistry,
  database: Database,
  id: Bytes,
  attachment: Attachment,
  start: number,
  end: number,
): Promise<AsyncIterable<Buffer>> {
  const { blob, storedLength } = attachment;
  if (storedLength === 0) return once(Buffer.alloc(0));
  const damaged = (why: string): RequestError => reportDamage(registry, database, id, attachment, why);
  const small = registry.pins.small(blob) ?? database.collection.smallBlob(blob);
  if (small !== undefined && small !== '') {
    const bytes = Buffer.from(small, 'latin1');
    if (!registry.pins.isSound(blob, bytes)) throw damaged('its bytes do not match its digest');
    return once(bytes.subarray(start, end));
  }
  const read = async (): Promise<BlobReader | undefined> =>
    await registry.blobs.read(blob, start, end).catch((error: unknown) => {
      throw error instanceof BlobDamage ? damaged(error.message) : error;
    });
  let reader = await read();
  const { cluster } = registry.membership;
  if (reader === undefined && cluster !== undefined) {
    await cluster.blobs.bring([blob], database.record.stream ?? 0).catch(() => undefined);
    reader = await read();
  }
  if (reader === undefined) {
    // It may have gone with its revision since that was read.
    throw isNeeded(database, id, blob)
      ? damaged('its bytes are missing')
      : notFound('Document is missing attachment');
  }
  if (reader.length !== storedLength) {
    await reader.close();
    throw damaged(`it has ${reader.length} of ${storedLength} bytes`);
  }
  return naming(reader, damaged);
}

function isNeeded(database: Database, id: Bytes, blob: string): boolean {
  const { collection } = database;
  return collection.hasBlob(blob) || collection.shardHasBlob(database.shardOf(id), blob);
}

/** What a client is told, and the log, of an attachment whose bytes are lost. */
function reportDamage(
  { logger }: DatabaseRegistry,
  { name: database }: Database,
  id: Bytes,
  { name, blob }: Attachment,
  why: string,
): RequestError {
  const doc = fromBytes(id);
  logger.error({ database, doc, attachment: name, blob, why }, 'an attachment is damaged');
  return new RequestError(
    'damaged_attachment',
    `The attachment ${name} of the document ${doc} in the database ${database} is damaged: ${why}.`,
  );
}

/** The same chunks; damage that is found on the way is reported. */
async function* naming(
  chunks: AsyncIterable<Buffer>,
  damaged: (why: string) => RequestError,
): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    const isZlib = String((error as NodeJS.ErrnoException | undefined)?.code).startsWith('Z_');
    throw error instanceof BlobDamage || isZlib ? damaged((error as Error).message) : error;
  }
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  if (bytes.length > 0) yield bytes;
}

/** The bytes as they are stored. */
export function readEncoded(
  registry: DatabaseRegistry,
  database: Database,
  id: Bytes,
  attachment: Attachment,
): Promise<AsyncIterable<Buffer>> {
  return readStored(registry, database, id, attachment, 0, attachment.storedLength);
}

/** The plain bytes, or a part of them. */
export async function readPlain(
  registry: DatabaseRegistry,
  database: Database,
  id: Bytes,
  attachment: Attachment,
  start = 0,
  end = attachment.length,
): Promise<AsyncIterable<Buffer>> {
  if (!attachment.gzip) return await readStored(registry, database, id, attachment, start, end);
  const stored = await readEncoded(registry, database, id, attachment);
  return naming(gunzipped(stored, start, end), (why) =>
    reportDamage(registry, database, id, attachment, why),
  );
}
