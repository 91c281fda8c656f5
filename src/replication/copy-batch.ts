import type { Runtime } from '../base/runtime.js';
import { fromBytes } from '../base/bytes.js';
import type { Logger } from '../base/logger.js';
import { formatRev } from '../revisions/rev.js';
import {
  PeerFailure,
  type Change,
  type DocRevision,
  type Missing,
  type Peer,
  type Unread,
  type WriteFailure,
} from './peer.js';
import type { Stats } from './stats.js';

export interface CopyContext {
  source: Peer;
  target: Peer;
  stats: Stats;
  logger: Pick<Logger, 'warn' | 'debug'>;
  retries: number;
  /** Whether there was nothing in the target when this began, and all of the changes are missing there. */
  targetIsNew: boolean;
  signal: AbortSignal;
  runtime: Runtime;
}

/** Documents are saved together up to this size. */
const writeBytesMax = 2 * 1024 * 1024;
const writeDocsMax = 1_000;
/** So much of documents with attachments waits until the others of the batch are through. */
const waitingBytesMax = 8 * 1024 * 1024;
const firstWaitMs = 250;
const longestWaitMs = 30_000;

/**
 * Brings the revisions of changes from one side to the other, as far as they are missing there. When something fails,
 * the batch is begun again, after a while: what has arrived by then is not missing any more.
 */
export async function copyBatch(context: CopyContext, changes: readonly Change[]): Promise<void> {
  const { stats, retries, signal, runtime } = context;
  for (const { revs } of changes) stats.missingChecked += revs.length;
  for (let tries = 0; ; tries++) {
    try {
      return await new Batch(context).copy(changes, tries === 0);
    } catch (error) {
      if (!(error instanceof PeerFailure) || tries >= retries) throw error;
      await runtime.sleep(Math.min(longestWaitMs, firstWaitMs * 2 ** tries), signal);
    }
  }
}

const wholly = ({ id, revs }: Change): Missing => ({ id, revs, ancestors: [] });

class Batch {
  #docs: DocRevision[] = [];
  #docsBytes = 0;
  /** Documents with attachments, whose turn comes when nothing is being read any more. */
  #waiting: DocRevision[] = [];
  #waitingBytes = 0;

  constructor(private readonly context: CopyContext) {}

  async copy(changes: readonly Change[], first: boolean): Promise<void> {
    const { source, target, stats } = this.context;
    // What has been written there since is written again, which does no harm. At a second attempt much of the batch is there.
    const asks = !first || !this.context.targetIsNew;
    const missing = asks ? await target.revsDiff(changes) : changes.map(wholly);
    if (first) for (const { revs } of missing) stats.missingFound += revs.length;
    if (missing.length > 0) await this.#readAll(source, missing);
    await this.#writeDocs();
    await this.#writeWaiting();
  }

  async #readAll(source: Peer, missing: readonly Missing[]): Promise<void> {
    for await (const results of source.readDocs(missing, this.context.stats)) {
      for (const result of results) {
        if ('unread' in result) this.#unread(result);
        else this.#take(result);
        if (this.#isFull) await this.#writeDocs();
        if (this.#waitingBytes >= waitingBytesMax) await this.#writeWaiting();
      }
    }
  }

  #take(doc: DocRevision): void {
    this.context.stats.docsRead++;
    if (doc.hasAttachments) {
      this.#waiting.push(doc);
      this.#waitingBytes += doc.bytes;
    } else {
      this.#docs.push(doc);
      this.#docsBytes += doc.bytes;
    }
  }

  get #isFull(): boolean {
    return this.#docsBytes >= writeBytesMax || this.#docs.length >= writeDocsMax;
  }

  async #writeDocs(): Promise<void> {
    const docs = this.#docs;
    if (docs.length === 0) return;
    this.#docs = [];
    this.#docsBytes = 0;
    const failures = await this.context.target.writeDocs(docs);
    this.context.stats.docsWritten += docs.length - failures.length;
    for (const failure of failures) this.#refused(failure);
  }

  async #writeWaiting(): Promise<void> {
    const docs = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const doc of docs) {
      const failure = await this.context.target.writeWithAttachments(doc);
      if (failure === undefined) this.context.stats.docsWritten++;
      else this.#refused(failure);
    }
  }

  #refused({ id, rev, error, reason }: WriteFailure): void {
    const { stats, logger, target } = this.context;
    stats.docWriteFailures++;
    const facts = { target: target.address, id: fromBytes(id), rev: formatRev(rev), error, reason };
    logger.warn(facts, 'the target of a replication refused a document');
  }

  /** What is gone has been replaced by something that the feed will show, or purged; what is closed is a failure. */
  #unread({ unread, id, rev, reason }: Unread): void {
    const { stats, logger, source } = this.context;
    const facts = { source: source.address, id: fromBytes(id), rev: rev && formatRev(rev), reason };
    if (unread === 'gone') return logger.debug(facts, 'a revision to be replicated is gone');
    stats.docWriteFailures++;
    logger.warn(facts, 'the source of a replication refused a document');
  }
}
