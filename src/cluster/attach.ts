import { fromBytes } from '../base/bytes.js';
import { badRequest } from '../base/errors.js';
import { find, winner, type RevNode } from '../revisions/tree.js';
import { attachmentsOf, encodeContent, type Attachment } from '../shard/content.js';
import { missingStub, type AttachmentInput } from './attachment-input.js';
import type { Cluster } from './cluster.js';
import type { Database } from './database.js';
import { isLocalId } from './document-input.js';
import type { NewBlobs } from './new-blobs.js';
import { storeAttachment, type StoredAttachment } from './store-attachment.js';
import type { NamedInput } from './update-docs.js';

/** Gives the bytes of an attachment that comes behind its document. */
export type Follower = (
  input: AttachmentInput & { kind: 'follows' },
) => AsyncIterable<Buffer> | Promise<AsyncIterable<Buffer>>;

/**
 * Puts the attachments of documents in their place before the documents are saved: bytes into the blob store, stubs
 * into what they stand for. A stub stands for the attachment of that name in the revision that the document continues,
 * and never for bytes that somebody merely knows the digest of.
 */
export async function attach(
  cluster: Cluster,
  database: Database,
  inputs: readonly NamedInput[],
  newEdits: boolean,
  blobs: NewBlobs,
  follower: Follower = noFollower,
): Promise<void> {
  for (const input of inputs) {
    if (input.attachments === undefined || isLocalId(input.id)) continue;
    const parent = parentOf(database, input, newEdits);
    const attachments: Attachment[] = [];
    for (const each of input.attachments) {
      if (each.kind === 'stub') {
        const kept = parent.attachments.find(({ name }) => name === each.name);
        // An unknown parent is a conflict, which will be found in its turn.
        if (kept === undefined && parent.known) throw missingStub(fromBytes(input.id), each.name);
        if (kept !== undefined) attachments.push(kept);
        continue;
      }
      const stored = await storeAttachment(cluster, {
        name: each.name,
        type: each.type,
        gzip: each.gzip,
        revpos: newEdits ? parent.pos + 1 : (each.revpos ?? parent.pos + 1),
        bytes: each.kind === 'data' ? [each.data] : await follower(each),
      });
      blobs.add(stored);
      checkDigest(each, stored);
      attachments.push(stored.attachment);
    }
    input.body = encodeContent(attachments, input.body);
  }
}

const noFollower: Follower = ({ name }) => {
  throw badRequest(`Attachment ${name} follows nowhere: the request has no parts.`);
};

function checkDigest(input: AttachmentInput, { attachment, sentMd5 }: StoredAttachment): void {
  if (input.kind !== 'follows' || input.md5 === undefined) return;
  if (input.md5 !== sentMd5 && input.md5 !== attachment.md5)
    throw badRequest(`The digest of attachment ${input.name} does not match its bytes.`);
}

interface Parent {
  pos: number;
  /** False where the document names a revision that is not here. */
  known: boolean;
  attachments: readonly Attachment[];
}

/** The revision that a document continues. */
function parentOf(
  database: Database,
  { id, rev, revisions, deleted }: NamedInput,
  newEdits: boolean,
): Parent {
  const doc = database.collection.doc(id);
  const path = revisions ?? (rev && { start: rev.pos, hashes: [rev.hash] });
  if (doc === undefined) {
    const pos = newEdits ? 0 : (path?.start ?? 1) - 1;
    return { pos, known: !newEdits || path === undefined, attachments: [] };
  }
  const named = path?.hashes
    .map((hash, i) => find(doc.tree, { pos: path.start - i, hash }))
    .find((node) => node !== undefined);
  const node: RevNode | undefined =
    named ?? (newEdits && path === undefined && doc.deleted && !deleted ? winner(doc.tree) : undefined);
  const pos = newEdits ? (node?.pos ?? 0) : (path?.start ?? 1) - 1;
  if (node === undefined) return { pos, known: !newEdits || path === undefined, attachments: [] };
  const content = database.collection.body(database.shardOf(id), doc, node);
  return { pos, known: true, attachments: content === undefined ? [] : attachmentsOf(content) };
}
