import { fromBytes, noBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { StorageError } from '../../base/storage-errors.js';
import { RequestError } from '../../base/errors.js';
import type { TimeSlice } from '../../base/turns.js';
import type { UserContext } from '../../base/user-context.js';
import type { Follower } from '../../documents/attachments/attach.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { Database } from '../../node/database.js';
import { knownId, legalId } from '../../shard/doc-id.js';
import { plainInput, type NamedInput } from '../../shard/document-input.js';
import { openDoc } from '../../documents/open-doc.js';
import { revsDiff } from '../../documents/revs-diff.js';
import { saveDoc, saveDocs } from '../../documents/save-docs.js';
import { formatRev, type Rev } from '../../revisions/rev.js';
import { find, leavesBelow, pathOf, type RevNode } from '../../revisions/tree.js';
import type { ScriptHost } from '../../script/script-host.js';
import type { DocRecord } from '../../shard/doc-record.js';
import { docText } from '../../shard/doc-text.js';
import type {
  Change,
  ChangesPage,
  ChangesRequest,
  DocRevision,
  LocalDoc,
  Missing,
  Peer,
  ReadCounts,
  ReadResult,
  WriteFailure,
} from '../peer.js';
import { without } from '../without.js';
import { readLocalChanges } from './local-changes.js';
import { LocalRevision } from './local-revision.js';

/** Makes a database of this server as a request for it would. */
export type CreateDatabase = (name: string, params: Readonly<Record<string, string>>) => Promise<void>;

export interface LocalTools {
  scripts: ScriptHost;
  makeDatabase: CreateDatabase;
}

/** Documents are given out in groups of about this size. */
const readDocsMax = 100;
const readBytesMax = 1024 * 1024;

/** A database of this server, read and written without a detour. */
export class LocalPeer implements Peer {
  constructor(
    private readonly registry: () => DatabaseRegistry,
    readonly address: string,
    private readonly user: UserContext,
    private readonly tools: LocalTools,
    private readonly signal: AbortSignal,
  ) {}

  /** It is asked all the same: the answer costs next to nothing. */
  async open(): Promise<{ isEmpty: boolean }> {
    this.#database();
    return await Promise.resolve({ isEmpty: false });
  }

  async create(params: Readonly<Record<string, string>>): Promise<void> {
    if (this.registry().exists(this.address)) return;
    await this.tools.makeDatabase(this.address, params).catch((error: unknown) => {
      // Another request was faster.
      if (!(error instanceof RequestError && error.error === 'file_exists')) throw error;
    });
  }

  changes(request: ChangesRequest): AsyncIterable<ChangesPage> {
    const { scripts } = this.tools;
    const place = { registry: this.registry(), database: this.#database(), scripts, user: this.user };
    return readLocalChanges(place, request, this.signal);
  }

  async revsDiff(changes: readonly Change[]): Promise<Missing[]> {
    const database = this.#database();
    const found: Missing[] = [];
    const slice = database.runtime.slice();
    for (const [at, { id, revs }] of changes.entries()) {
      const { missing, possibleAncestors } = revsDiff(database, id, revs);
      if (missing.length > 0) found.push({ id, revs: missing, ancestors: possibleAncestors });
      if (((at & 63) === 63 || revs.length > 63) && slice.isOver) await this.#yield(slice);
    }
    return found;
  }

  async *readDocs(wanted: readonly Missing[], counts: ReadCounts): AsyncGenerator<ReadResult[]> {
    const database = this.#database();
    let results: ReadResult[] = [];
    let bytes = 0;
    const slice = database.runtime.slice();
    for (const missing of wanted) {
      for (const result of this.#revisions(database, missing)) {
        counts.bulkGetAttempts++;
        results.push(result);
        if (!('unread' in result)) {
          counts.bulkGetDocs++;
          bytes += result.bytes;
        }
        if (results.length < readDocsMax && bytes < readBytesMax) continue;
        yield results;
        results = [];
        bytes = 0;
        await this.#yield(slice);
      }
      if (slice.isOver) await this.#yield(slice);
    }
    if (results.length > 0) yield results;
  }

  async writeDocs(docs: readonly DocRevision[]): Promise<WriteFailure[]> {
    const failures: WriteFailure[] = [];
    const saved: DocRevision[] = [];
    const inputs = docs.flatMap((doc) => {
      try {
        const input = this.#inputOf(doc);
        saved.push(doc);
        return [input];
      } catch (error) {
        failures.push(failureOf(doc, error));
        return [];
      }
    });
    const options = { user: this.user, newEdits: false };
    const results = await saveDocs(this.registry(), this.#database(), inputs, options);
    for (const [at, result] of results.entries())
      if (result instanceof RequestError) failures.push(failureOf(saved[at]!, result));
    return failures;
  }

  async writeWithAttachments(doc: DocRevision): Promise<WriteFailure | undefined> {
    const options = { user: this.user, newEdits: false, follower: followerOf(doc) };
    try {
      await saveDoc(this.registry(), this.#database(), this.#inputOf(doc), options);
      return undefined;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const whole = error.error === 'missing_stub' ? doc.carryingAll() : doc;
      if (whole.carried.length > doc.carried.length) return await this.writeWithAttachments(whole);
      return failureOf(doc, error);
    }
  }

  readLocal(id: string): Promise<LocalDoc | undefined> {
    const record = this.#database().collection.local(toBytes(`_local/${id}`));
    return Promise.resolve(record && (JSON.parse(fromBytes(record.body)) as LocalDoc));
  }

  async writeLocal(id: string, doc: LocalDoc): Promise<void> {
    const members = without(doc, '_id', '_rev');
    const database = this.#database();
    const docid = knownId(toBytes(`_local/${id}`));
    const known = database.collection.local(docid)?.rev ?? 0;
    const rev = { pos: 0, hash: String(known) };
    const input = plainInput(docid, rev, toBytes(JSON.stringify(members)));
    await saveDoc(this.registry(), database, input, { user: this.user, newEdits: true });
  }

  readDoc(id: string): Promise<LocalDoc | undefined> {
    try {
      const { rev, content } = openDoc(this.#database(), toBytes(id), {});
      const text = docText(toBytes(id), rev, content, noBytes);
      return Promise.resolve(JSON.parse(fromBytes(text)) as LocalDoc);
    } catch (error) {
      if (error instanceof RequestError && error.error === 'not_found') return Promise.resolve(undefined);
      throw error;
    }
  }

  /** What is answered is on disk. */
  commit(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** The document as it is to be saved; refuses what a request with it would be refused for. */
  #inputOf(doc: DocRevision): NamedInput {
    const input = doc.input();
    const { config } = this.registry();
    const id = legalId(input.id, config.number('couchdb/max_document_id_length'));
    const named = { ...input, id: this.#database().docId(id) };
    if (input.body.length > config.number('couchdb/max_document_size'))
      throw new RequestError('document_too_large', fromBytes(input.id));
    return named;
  }

  /** Looked up each time: it may have been removed, and made again, since. */
  #database(): Database {
    const registry = this.registry();
    if (!registry.exists(this.address))
      throw new RequestError('db_not_found', `could not open ${this.address}`);
    return registry.database(this.address);
  }

  *#revisions(database: Database, { id, revs, ancestors }: Missing): Generator<ReadResult> {
    const doc = database.collection.docUncached(id);
    if (doc === undefined) return yield* revs.map((rev) => gone(id, rev));
    const known = new Set(ancestors.map(formatRev));
    const seen = new Set<RevNode>();
    for (const rev of revs) {
      const node = find(doc.tree, rev);
      if (node === undefined) yield gone(id, rev);
      else
        for (const leaf of leavesBelow(doc.tree, node)) {
          if (seen.has(leaf)) continue;
          seen.add(leaf);
          yield this.#revision(database, id, doc, leaf, known);
        }
    }
  }

  #revision(
    database: Database,
    id: Bytes,
    doc: DocRecord,
    node: RevNode,
    ancestors: ReadonlySet<string>,
  ): ReadResult {
    const content = database.collection.bodyOnce(database.shardOf(id), doc, node);
    if (content === undefined) return gone(id, node);
    const path = pathOf(doc.tree, node).slice(0, database.revsLimit);
    // The newest comes first.
    const known = ancestors.size === 0 ? undefined : path.find((own) => ancestors.has(formatRev(own)));
    const knownPos = known?.pos ?? -1;
    return new LocalRevision(this.registry(), database, id, path, content, knownPos);
  }

  /** Lets others run, and the replication end. */
  async #yield(slice: TimeSlice): Promise<void> {
    await slice.next();
    this.signal.throwIfAborted();
  }
}

const gone = (id: Bytes, rev: Rev): ReadResult => ({ unread: 'gone', id, rev, reason: 'missing' });

function failureOf({ id, rev }: DocRevision, error: unknown): WriteFailure {
  // A full disk says nothing about the document: it is tried again with all others.
  if (!(error instanceof RequestError) || error instanceof StorageError) throw error;
  return { id, rev, error: error.error, reason: error.reason };
}

/** Hands the bytes of attachments to where they are saved. */
function followerOf(doc: DocRevision): Follower {
  return {
    open: async ({ name }) => {
      const attachment = doc.carried.find((each) => each.name === name);
      if (attachment === undefined) throw new Error(`the attachment ${name} of a document is not carried`);
      return await attachment.open();
    },
    end: () => Promise.resolve(),
  };
}
