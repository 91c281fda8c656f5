import { asBytes, type Bytes } from '../../base/bytes.js';
import { RequestError } from '../../base/errors.js';
import type { AttachmentInput } from '../../shard/document-input.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { Database } from '../../node/database.js';
import { followingText, isWanted } from '../../documents/doc-pieces.js';
import type { SentInput } from '../../shard/document-input.js';
import { readEncoded } from '../../documents/attachments/read-attachment.js';
import type { Rev } from '../../revisions/rev.js';
import type { RevNode } from '../../revisions/tree.js';
import { attachmentsOf, hasAttachments, splitContent, type Attachment } from '../../shard/content.js';
import { deletedMember, docText, revisionsMember } from '../../shard/doc-text.js';
import { PeerFailure, type CarriedAttachment, type DocRevision } from '../peer.js';

/** A revision of a database of this server: what is stored goes on as it is, without being read. */
export class LocalRevision implements DocRevision {
  readonly carried: readonly CarriedAttachment[];

  constructor(
    private readonly registry: DatabaseRegistry,
    private readonly database: Database,
    readonly id: Bytes,
    /** The revision and its ancestors, newest first. */
    private readonly path: readonly RevNode[],
    private readonly content: Bytes,
    /** The generation up to which the other side has the attachments. */
    private readonly knownPos: number,
  ) {
    this.carried = hasAttachments(content)
      ? attachmentsOf(content)
          .filter((each) => isWanted(each, this.#wanted))
          .map((each) => this.#carry(each))
      : noAttachments;
  }

  get rev(): Rev {
    return this.path[0]!;
  }

  get bytes(): number {
    return this.content.length;
  }

  get hasAttachments(): boolean {
    return hasAttachments(this.content);
  }

  text(): Bytes {
    const { id, rev, content } = this;
    const extra = asBytes((this.path[0]!.deleted ? deletedMember : '') + revisionsMember(this.path));
    if (!this.hasAttachments) return docText(id, rev, content, extra);
    return followingText({ id, rev, content, extra, plain: false }, this.#wanted);
  }

  json(): Buffer {
    return Buffer.from(this.text(), 'latin1');
  }

  input(): SentInput {
    const { pos, deleted } = this.path[0]!;
    const { attachments, body } = splitContent(this.content);
    return {
      id: this.id,
      rev: undefined,
      revisions: { start: pos, hashes: this.path.map(({ hash }) => hash) },
      deleted,
      attachments: this.hasAttachments ? attachments.map((each) => this.#inputOf(each)) : undefined,
      body,
    };
  }

  carryingAll(): DocRevision {
    const { registry, database, id, path, content } = this;
    return new LocalRevision(registry, database, id, path, content, -1);
  }

  get #wanted() {
    return { after: this.knownPos, encodingInfo: true };
  }

  #carry(attachment: Attachment): CarriedAttachment {
    const { name, type, storedLength, gzip } = attachment;
    const open = () =>
      readEncoded(this.registry, this.database, this.id, attachment)
        .then(failing)
        .catch((error: unknown) => {
          throw failureOf(error) ?? this.#gone(name);
        });
    return { name, type, length: storedLength, gzip, open };
  }

  /** Compacted away since: the document is read again, and with it what has taken its place. */
  #gone(name: string): PeerFailure {
    return new PeerFailure(`The attachment ${name} of a document of ${this.database.name} is gone.`);
  }

  #inputOf(attachment: Attachment): AttachmentInput {
    const { name, type, revpos, md5, length, storedLength, gzip } = attachment;
    if (!isWanted(attachment, this.#wanted)) return { kind: 'stub', name, revpos };
    return { kind: 'follows', name, revpos, type, gzip, md5, length, encodedLength: storedLength };
  }
}

const noAttachments: readonly CarriedAttachment[] = [];

/** Damaged bytes are a failure of this side, not a document that the other side refuses: the replication stops for it. */
const failureOf = (error: unknown): PeerFailure | undefined =>
  error instanceof RequestError && error.error === 'damaged_attachment'
    ? new PeerFailure(error.reason)
    : undefined;

async function* failing(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    throw failureOf(error) ?? error;
  }
}
