import { fromBytes } from '../../base/bytes.js';
import { badRequest } from '../../base/errors.js';
import { find, winner, type RevNode } from '../../revisions/tree.js';
import { attachmentsOf, encodeContent, type Attachment } from '../../shard/content.js';
import type { AttachmentInput } from '../../shard/document-input.js';
import { missingStub } from './attachment-input.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { Database } from '../../node/database.js';
import { isLocalId } from '../../shard/doc-id.js';
import type { NamedInput } from '../../shard/document-input.js';
import type { NewBlobs } from './new-blobs.js';
import { storeAttachment, type StoredAttachment } from './store-attachment.js';

/** The attachments that come behind their document, in the order in which it names them. */
export interface Follower {
  open(input: Following): Promise<AsyncIterable<Buffer>>;
  /** Refuses what is left over. */
  end(): Promise<void>;
}

type Following = AttachmentInput & { kind: 'follows' };

/**
 * Puts the attachments of documents in their place before the documents are saved: bytes into the blob store, stubs
 * into what they stand for. A stub stands for the attachment of that name in the revision that the document continues,
 * and never for bytes of which the client merely knows the digest.
 */
export async function attach(
  registry: DatabaseRegistry,
  database: Database,
  inputs: readonly NamedInput[],
  newEdits: boolean,
  blobs: NewBlobs,
  follower: Follower = noFollower,
): Promise<NamedInput[]> {
  const attached: NamedInput[] = [];
  const slice = database.runtime.slice();
  for (const input of inputs) {
    if (input.attachments === undefined || isLocalId(input.id)) {
      attached.push(input);
      continue;
    }
    const parent = parentOf(database, input, newEdits);
    const attachments: Attachment[] = [];
    for (const each of input.attachments) {
      if (slice.isOver) await slice.next();
      if (each.kind === 'stub') {
        const kept = keptBy(each, parent.attachments);
        // Without a parent it is a conflict, which will be found in its turn.
        if (kept === undefined && parent.known) throw missingStub(fromBytes(input.id), each.name);
        if (kept !== undefined) attachments.push(kept);
        continue;
      }
      const stored = await storeAttachment(registry, {
        name: each.name,
        type: each.type,
        gzip: each.kind === 'follows' && each.gzip,
        revpos: newEdits ? parent.pos + 1 : givenRevpos(each, parent.pos + 1),
        bytes: each.kind === 'data' ? [each.data] : await follower.open(each),
      });
      blobs.add(stored);
      if (each.kind === 'follows') checkAnnounced(each, stored);
      attachments.push(stored.attachment);
    }
    attached.push({ ...input, attachments: undefined, body: encodeContent(attachments, input.body) });
  }
  await follower.end();
  return attached;
}

/** Refuses a document with a stub that stands for nothing, without storing anything. */
export function checkStubs(database: Database, input: NamedInput, newEdits: boolean): void {
  const stubs = input.attachments?.filter(({ kind }) => kind === 'stub') ?? [];
  if (stubs.length === 0 || isLocalId(input.id)) return;
  const { known, attachments } = parentOf(database, input, newEdits);
  for (const stub of stubs) {
    if (known && keptBy(stub, attachments) === undefined) throw missingStub(fromBytes(input.id), stub.name);
  }
}

/** Since when an attachment is there, in a revision that another server has made. */
function givenRevpos({ name, revpos }: AttachmentInput, otherwise: number): number {
  if (Number.isNaN(revpos)) throw badRequest(`Invalid revpos of attachment ${name}`);
  return revpos ?? otherwise;
}

/** What a stub stands for: a stub that says since when it is there must be right. */
const keptBy = (
  { name, revpos }: AttachmentInput,
  attachments: readonly Attachment[],
): Attachment | undefined =>
  attachments.find((each) => each.name === name && (revpos === undefined || revpos === each.revpos));

const noFollower: Follower = {
  open: ({ name }) => {
    throw badRequest(`Attachment ${name} follows nowhere: the request has no parts.`);
  },
  end: () => Promise.resolve(),
};

/** What a document says of an attachment that follows must be true. */
function checkAnnounced(
  { name, md5, length, gzip, encodedLength }: Following,
  { attachment, sentMd5 }: StoredAttachment,
): void {
  if (md5 !== undefined && md5 !== sentMd5 && md5 !== attachment.md5) {
    throw badRequest(`The digest of attachment ${name} does not match its bytes.`);
  }
  const isLength = length === undefined || length === attachment.length || length === attachment.storedLength;
  const isEncodedLength = !gzip || encodedLength === undefined || encodedLength === attachment.storedLength;
  if (!isLength || !isEncodedLength) {
    throw badRequest(`Attachment ${name} does not have the length that was announced.`);
  }
}

interface Parent {
  pos: number;
  /** False where the edit continues no leaf of a document that is here. */
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
  if (doc === undefined) return { pos: newEdits ? 0 : (path?.start ?? 1) - 1, known: true, attachments: [] };
  const named = path?.hashes
    .map((hash, i) => find(doc.tree, { pos: path.start - i, hash }))
    .find((node) => node !== undefined);
  const node: RevNode | undefined =
    named ?? (newEdits && path === undefined && doc.deleted && !deleted ? winner(doc.tree) : undefined);
  const pos = newEdits ? (node?.pos ?? 0) : (path?.start ?? 1) - 1;
  // An edit of something else than a leaf is a conflict, whatever its stubs say.
  if (node === undefined || (newEdits && !node.leaf)) return { pos, known: !newEdits, attachments: [] };
  const content = database.collection.body(database.shardOf(id), doc, node);
  return { pos, known: true, attachments: content === undefined ? [] : attachmentsOf(content) };
}
