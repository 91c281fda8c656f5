import type { Runtime } from '../base/runtime.js';
import { RequestError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { Semaphore } from '../base/semaphore.js';
import { answerOf, commonStart, makeLog, type Session } from './checkpoint.js';
import { copyBatch, type CopyContext } from './copy-batch.js';
import type { Change, LocalDoc, Peer, Seq } from './peer.js';
import { Progress } from './progress.js';
import type { ReplicationId } from './replication-id.js';
import { sameSeq } from './seq.js';
import type { ReplicatorCounts } from './replicator-counts.js';
import type { ReplicationSpec } from './spec.js';
import { Stats } from './stats.js';

/** What replications log. */
export type ReplicationLogger = Pick<Logger, 'warn' | 'debug'>;

export interface ReplicationOptions {
  spec: ReplicationSpec;
  id: ReplicationId;
  source: Peer;
  target: Peer;
  logger: ReplicationLogger;
  runtime: Runtime;
  counts: ReplicatorCounts;
  /** Ends it. The caller closes the peers too. */
  signal: AbortSignal;
  /** Called when what it tells of itself has changed. */
  onProgress?: () => void;
}

/** A replication under way, on this thread or on another one. */
export interface ReplicationWork {
  /** What it has done in this run and in those that its checkpoints tell of. */
  readonly stats: Stats;
  /** Undefined until both sides are open. */
  readonly standing: Standing | undefined;
  /** When something was last heard of the source, or done. */
  readonly updatedAt: Date;
  /** Opens both sides and finds the place to go on from. */
  open(): Promise<void>;
  /** Goes to the end of the source, or, if it is continuous, on until it is stopped. Gives what `/_replicate` answers. */
  run(): Promise<LocalDoc>;
  /** Begins with no further changes, and notes how far it has come: for one that is stopped or has failed. */
  checkpoint(): Promise<void>;
}

/** The progress of a replication. */
export interface Standing {
  sourceSeq: Seq;
  throughSeq: Seq;
  checkpointedSeq: Seq;
  pending: number | null;
}

/**
 * One run of a replication. The changes of the source are read in order, page by page; several pages are worked on at
 * once. Every so often, and at the end, both sides note the place up to which all is done, and the next run begins
 * there. What fails makes the run fail, so nothing is passed over; what the target refuses for good is counted.
 */
export class Replication implements ReplicationWork {
  readonly stats = new Stats();
  updatedAt: Date;
  #session!: Session;
  #progress!: Progress;
  #sourceSeq: Seq = 0;
  #checkpointed: Seq = 0;
  #pending: number | null = null;
  /** The notes as they were before, and as they were written last. */
  #log: LocalDoc | undefined;
  #written: LocalDoc | undefined;
  #checkpointing: Promise<void> = Promise.resolve();
  #sourceTakesNotes = true;
  /** Whether any change has come: as in CouchDB, a session that ends without one notes nothing. */
  #hasChanges = false;
  /** Until the feed has come to its end for the first time. */
  #targetIsNew = false;
  #isEnding = false;

  constructor(private readonly options: ReplicationOptions) {
    this.updatedAt = options.runtime.date();
  }

  get standing(): Standing | undefined {
    if (this.#progress === undefined) return undefined;
    return {
      sourceSeq: this.#sourceSeq,
      throughSeq: this.#progress.through,
      checkpointedSeq: this.#checkpointed,
      pending: this.#pending,
    };
  }

  async open(): Promise<void> {
    const { spec, source, target } = this.options;
    await source.open();
    this.#targetIsNew = await this.#openTarget(target);
    const start = await this.#findStart(source, target);
    // As in CouchDB, what the request names prevails over a checkpoint.
    const seq = spec.sinceSeq ?? (start.history.length === 0 ? 0 : start.seq);
    this.#session = {
      id: this.options.runtime.randomHex(16),
      startTime: this.options.runtime.date(),
      startSeq: seq,
      history: start.history,
      withTotals: spec.selection.kind === 'doc_ids',
    };
    // As in CouchDB, the counts are those of all sessions of this replication.
    if (start.history[0] !== undefined) this.stats.addSession(start.history[0]);
    this.#progress = new Progress(seq);
    this.#sourceSeq = this.#checkpointed = seq;
  }

  async run(): Promise<LocalDoc> {
    const { spec } = this.options;
    let fail!: (error: unknown) => void;
    const failure = new Promise<never>((_, reject) => (fail = reject));
    const timer = this.options.runtime.setRepeating(
      () => void this.#checkpoint().catch(fail),
      spec.checkpointIntervalMs,
    );
    const work = this.#copyAll(fail);
    // If both fail, the second rejection has no waiter.
    for (const each of [work, failure]) each.catch(() => undefined);
    try {
      await Promise.race([work, failure]);
    } finally {
      timer.cancel();
    }
    await this.#checkpoint();
    return this.#answer();
  }

  async checkpoint(): Promise<void> {
    this.#isEnding = true;
    if (this.#progress !== undefined) await this.#checkpoint();
  }

  /** Tells whether it is empty. */
  async #openTarget(target: Peer): Promise<boolean> {
    const { createTarget, createTargetParams } = this.options.spec;
    try {
      return (await target.open()).isEmpty;
    } catch (error) {
      if (!createTarget || !(error instanceof RequestError) || error.error !== 'db_not_found') throw error;
      await target.create(createTargetParams);
      return (await target.open()).isEmpty;
    }
  }

  async #findStart(source: Peer, target: Peer): Promise<ReturnType<typeof commonStart>> {
    const { id } = this.options;
    // As in CouchDB, a replication that writes no notes still goes on from those that are there.
    const [onSource, onTarget] = await Promise.all([source.readLocal(id.base), target.readLocal(id.base)]);
    this.#log = onSource;
    return commonStart(onSource, onTarget);
  }

  async #copyAll(fail: (error: unknown) => void): Promise<void> {
    const { spec, source, target, logger, signal, runtime } = this.options;
    const { retries } = spec;
    const { stats } = this;
    const base = { source, target, stats, logger, retries, signal, runtime };
    const workers = new Semaphore(spec.workers);
    const feed = source.changes({
      since: this.#session.startSeq,
      continuous: spec.continuous,
      selection: spec.selection,
      winningRevsOnly: spec.winningRevsOnly,
      pageSize: spec.batchSize,
    });
    for await (const { changes, lastSeq, pending } of feed) {
      this.#sourceSeq = lastSeq;
      this.#pending = pending;
      this.#noteProgress();
      this.#hasChanges ||= changes.length > 0;
      if (!this.#hasChanges && !spec.continuous) continue;
      const done = this.#progress.begin(lastSeq);
      const release = await workers.acquire();
      signal.throwIfAborted();
      if (this.#isEnding) return release();
      const context: CopyContext = { ...base, targetIsNew: this.#targetIsNew };
      if (pending === 0) this.#targetIsNew = false;
      this.#copy(context, changes, done).catch(fail).finally(release);
    }
    await workers.whenIdle();
  }

  async #copy(context: CopyContext, changes: readonly Change[], done: () => void): Promise<void> {
    if (changes.length > 0) await copyBatch(context, changes);
    done();
    this.#noteProgress();
  }

  #noteProgress(): void {
    this.updatedAt = this.options.runtime.date();
    this.options.onProgress?.();
  }

  /** One at a time, since each goes on from the one before. */
  #checkpoint(): Promise<void> {
    this.#checkpointing = this.#checkpointing.then(() => this.#checkpointNow());
    return this.#checkpointing;
  }

  async #checkpointNow(): Promise<void> {
    const { spec, id, source, target, counts } = this.options;
    const seq = this.#progress.through;
    if (!spec.useCheckpoints || sameSeq(seq, this.#checkpointed)) return;
    const log = makeLog(this.#session, seq, this.stats, this.options.runtime.date());
    try {
      await target.commit();
      await Promise.all([this.#noteOnSource(source, id.base, log), target.writeLocal(id.base, log)]);
      counts.checkpoints.success++;
    } catch (error) {
      counts.checkpoints.failure++;
      throw error;
    }
    this.#checkpointed = seq;
    this.#written = log;
    this.options.onProgress?.();
  }

  /** A user who may read the source may not be allowed to write to it: then each run begins at the beginning. */
  async #noteOnSource(source: Peer, id: string, log: LocalDoc): Promise<void> {
    if (!this.#sourceTakesNotes) return;
    try {
      await source.writeLocal(id, log);
    } catch (error) {
      const closed =
        error instanceof RequestError && (error.error === 'unauthorized' || error.error === 'forbidden');
      if (!closed) throw error;
      this.#sourceTakesNotes = false;
      const facts = { source: source.address };
      this.options.logger.warn(
        facts,
        'the source of a replication takes no checkpoints: the next run begins anew',
      );
    }
  }

  #answer(): LocalDoc {
    if (this.#written !== undefined) return { ok: true, ...answerOf(this.#written) };
    if (this.#hasChanges && !this.options.spec.useCheckpoints) return { ok: true, use_checkpoints: false };
    return { ok: true, no_changes: true, ...answerOf(this.#log ?? {}) };
  }
}
