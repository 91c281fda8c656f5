import { badRequest, notFound, RequestError, Unavailable } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { UserContext } from '../base/user-context.js';
import { Job } from './job.js';
import { ActiveRun } from './job-run.js';
import { JobScheduler } from './job-scheduler.js';
import type { LocalDoc } from './peer.js';
import { makePeer, placeOf, type PeerHost } from './peers.js';
import { refusalOf } from './reason.js';
import { fullId, replicationId, type ReplicationId } from './replication-id.js';
import type { ReplicatorCounts } from './replicator-counts.js';
import { ReplicationThread } from './replication-thread.js';
import { ReplicatorDocs } from './replicator-docs.js';
import { ReplicatorWatch } from './replicator-watch.js';
import { SchedulerDocs } from './scheduler-docs.js';
import { isSeq } from './seq.js';
import { flag, parseSpec, readManyIds, type ReplicationSpec, type SpecRules } from './spec.js';
import { without } from './without.js';

export interface ReplicatorHost extends PeerHost {
  logger: Logger;
  /** This server's id: another server's replications are not ours. */
  serverId: string;
}

/** What became of a request to `/_replicate`. */
export type Replicated =
  { kind: 'completed'; answer: LocalDoc } | { kind: 'accepted' | 'cancelled'; id: string };

/** How long a request for a continuous replication waits for an error at its start. */
const openingMs = 2_000;

/** All replications of this server: those that requests ask for, and those of documents. */
export class Replicator {
  readonly scheduler: JobScheduler;
  readonly #thread: ReplicationThread;
  #docs: ReplicatorDocs;
  #watch: ReplicatorWatch | undefined;
  #closed = false;

  constructor(private readonly host: ReplicatorHost) {
    this.#thread = new ReplicationThread(host.runtime);
    this.scheduler = new JobScheduler(
      host.config,
      host.logger,
      (job, logger) => new ActiveRun(host, job, logger, this.#thread),
      host.runtime,
    );
    this.#docs = this.#makeDocs();
  }

  /** Takes up the documents of a registry that has been opened. */
  async start(): Promise<void> {
    const { logger } = this.host;
    this.#watch = new ReplicatorWatch(this.host.registry(), this.#docs, logger);
    await this.#watch.start();
  }

  /** Lets go of a registry that is about to be closed: replications of documents end, and begin again with `start`. */
  async pause(): Promise<void> {
    await this.#watch?.close();
    await this.#docs.close();
    const closing = closingRefusal();
    const ofDocs = this.scheduler.list().filter(({ origin }) => origin !== undefined);
    await Promise.all(ofDocs.map(({ id }) => this.scheduler.remove(id, closing)));
    this.#docs = this.#makeDocs();
  }

  /** Ends what requests have asked to go on for ever: another node runs the replications of the cluster now. */
  async leave(): Promise<void> {
    await this.pause();
    const left = new Unavailable('Another node runs the replications of the cluster now.');
    const continuous = this.scheduler.list().filter(({ spec }) => spec.continuous);
    await Promise.all(continuous.map(({ id }) => this.scheduler.remove(id, left)));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#watch?.close();
    await this.#docs.close();
    await this.scheduler.close(closingRefusal());
    await this.#thread.close();
  }

  get counts(): ReplicatorCounts {
    return this.host.counts;
  }

  get docs(): SchedulerDocs {
    return new SchedulerDocs(this.host.registry(), this.#docs);
  }

  /** The names of all replicator databases. */
  get databases(): string[] {
    return this.#watch?.databases ?? [];
  }

  /** Does what a request to `/_replicate` asks for. */
  async replicate(body: LocalDoc, user: UserContext): Promise<Replicated> {
    const cancel = flag(body, 'cancel', false);
    const named = body['replication_id'] ?? body['_local_id'] ?? body['id'];
    if (cancel && typeof named === 'string') return await this.#cancel(named);
    const docIds = await readManyIds(body, this.host.runtime);
    const spec = this.#parse(body, cancel, { config: this.host.config, user, localNames: true, docIds });
    const id = await this.#identify(spec).catch((error: unknown) => {
      throw refusalOf(error);
    });
    if (cancel) return await this.#cancel(fullId(id));
    if (this.#closed) throw closingRefusal();
    return spec.continuous ? await this.#begin(id, spec) : await this.#complete(id, spec);
  }

  /** Nothing replicates from or to what can't be an endpoint, or from what can't be a sequence: there is nothing to cancel. */
  #parse(body: LocalDoc, cancel: boolean, rules: SpecRules): ReplicationSpec {
    if (cancel && !isSeq(body['since_seq'] ?? 0)) {
      this.#parse(without(body, 'since_seq'), cancel, rules);
      throw notFound('missing');
    }
    try {
      return parseSpec(body, rules);
    } catch (error) {
      const isEndpoint = error instanceof RequestError && error.error === 'bad_rep_doc';
      throw cancel && isEndpoint ? notFound('missing') : error;
    }
  }

  async #complete(id: ReplicationId, spec: ReplicationSpec): Promise<Replicated> {
    const job = this.#job(id, spec);
    try {
      return { kind: 'completed', answer: await job.wait() };
    } catch (error) {
      throw refusalOf(error);
    }
  }

  /** What can be told at once is told at once; all else is tried until it works. */
  async #begin(id: ReplicationId, spec: ReplicationSpec): Promise<Replicated> {
    const job = this.#job(id, spec);
    try {
      await Promise.race([job.run?.opened, this.host.runtime.idleSleep(openingMs)]);
    } catch (error) {
      if (error instanceof RequestError) {
        await this.scheduler.remove(job.id, error);
        throw error;
      }
    }
    return { kind: 'accepted', id: job.id };
  }

  /** The job of that id: one that is there, or a new one. */
  #job(id: ReplicationId, spec: ReplicationSpec): Job {
    const known = this.scheduler.get(fullId(id));
    if (known !== undefined) return known;
    const job = new Job(id, spec, undefined, this.host.runtime);
    // Waiters are told of the failure and may ask again; a replication without waiters is retried.
    this.scheduler.add(job, { completed: () => undefined, crashed: () => spec.continuous });
    return job;
  }

  async #cancel(id: string): Promise<Replicated> {
    const job = this.scheduler.get(id);
    if (job === undefined) throw notFound('missing');
    if (job.origin !== undefined) {
      const { database, docId } = job.origin;
      throw badRequest(`The document ${docId} of ${database} asks for this replication: delete that.`);
    }
    await this.scheduler.remove(id, new RequestError('replication_failed', 'The replication was cancelled.'));
    return { kind: 'cancelled', id };
  }

  async #identify(spec: ReplicationSpec): Promise<ReplicationId> {
    const signal = AbortSignal.timeout(spec.timeoutMs);
    return await replicationId(spec, this.host.serverId, async (docId) => {
      const peer = makePeer(this.host, placeOf(this.host, spec.source, spec.user), spec, signal);
      try {
        return await peer.readDoc(docId);
      } finally {
        await peer.close();
      }
    });
  }

  #makeDocs(): ReplicatorDocs {
    const { config, logger, registry, runtime, counts } = this.host;
    const identify = (spec: ReplicationSpec) => this.#identify(spec);
    return new ReplicatorDocs({
      ...{ config, logger, registry, runtime, counts, identify },
      scheduler: this.scheduler,
    });
  }
}

const closingRefusal = (): RequestError => new Unavailable('The server is closing.');
