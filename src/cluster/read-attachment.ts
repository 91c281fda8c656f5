import type { Bytes } from '../base/bytes.js';
import { notFound } from '../base/errors.js';
import { gunzipped } from '../blobs/gzip.js';
import { find, pathOf } from '../revisions/tree.js';
import type { Rev } from '../revisions/rev.js';
import { smallBlob, volumeKey } from '../shard/blob-refs.js';
import { attachmentsOf, type Attachment } from '../shard/content.js';
import type { Cluster } from './cluster.js';
import type { Database } from './database.js';
import { shown, type Show } from './read-gates.js';

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
  const path = pathOf(doc.tree, node);
  const known = since.filter(({ pos, hash }) => path.some((each) => each.pos === pos && each.hash === hash));
  return Math.max(0, ...known.map(({ pos }) => pos));
}

/** The stored bytes `start` up to, not including, `end`: compressed where they are kept so. */
async function readStored(
  cluster: Cluster,
  database: Database,
  { blob, storedLength }: Attachment,
  start: number,
  end: number,
): Promise<AsyncIterable<Buffer>> {
  if (storedLength === 0) return once(Buffer.alloc(0));
  const small = cluster.pins.small(blob) ?? smallBlob(database.collection.store.get(volumeKey(blob)));
  if (small !== undefined && small !== '') return once(Buffer.from(small, 'latin1').subarray(start, end));
  const reader = await cluster.blobs.read(blob, start, end);
  if (reader === undefined) throw new Error(`the bytes ${blob} of an attachment are missing`);
  return reader;
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  if (bytes.length > 0) yield bytes;
}

/** The bytes as they are stored. */
export function readEncoded(
  cluster: Cluster,
  database: Database,
  attachment: Attachment,
): Promise<AsyncIterable<Buffer>> {
  return readStored(cluster, database, attachment, 0, attachment.storedLength);
}

/** The plain bytes, or a part of them. */
export async function readPlain(
  cluster: Cluster,
  database: Database,
  attachment: Attachment,
  start = 0,
  end = attachment.length,
): Promise<AsyncIterable<Buffer>> {
  if (!attachment.gzip) return await readStored(cluster, database, attachment, start, end);
  return gunzipped(await readEncoded(cluster, database, attachment), start, end);
}
