import type { Runtime, Timer } from '../base/runtime.js';
import { fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { Semaphore } from '../base/semaphore.js';
import type { UserContext } from '../base/user-context.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Config } from '../config/config.js';
import {
  completedState,
  errorState,
  failedState,
  triggeredState,
  writeState,
  type DocState,
} from './doc-states.js';
import { Job } from './job.js';
import type { JobListener, JobScheduler } from './job-scheduler.js';
import type { LocalDoc } from './peer.js';
import { reasonOf } from './reason.js';
import { fullId, type ReplicationId } from './replication-id.js';
import type { ReplicatorCounts } from './replicator-counts.js';
import { isFinal } from './replicator-database.js';
import { retryWaitMs } from './retry-wait.js';
import { parseSpec, type ReplicationSpec } from './spec.js';

/** A document whose replication is under way. */
export interface DocEntry {
  database: string;
  docId: string;
  rev: string;
  body: LocalDoc;
  state: 'initializing' | 'error' | 'scheduled';
  job: Job | undefined;
  errorCount: number;
  lastError: string | undefined;
  since: Date;
  changed: Date;
  /** The time in the state that was written last: tells changes of our own from those of others. */
  written: string | undefined;
  retry: Timer | undefined;
  dropped: boolean;
}

export interface DocsHost {
  runtime: Runtime;
  config: Config;
  logger: Logger;
  registry: () => DatabaseRegistry;
  scheduler: JobScheduler;
  counts: ReplicatorCounts;
  /** Finds out what a replication is called, which may take a look at the source. */
  identify(spec: ReplicationSpec): Promise<ReplicationId>;
}

const identifiedAtOnce = 20;
const superseded = new RequestError(
  'replication_failed',
  'The document of the replication was changed or deleted.',
);

/** Turns documents of replicator databases into jobs, and writes into them what became of these. */
export class ReplicatorDocs {
  readonly #entries = new Map<string, DocEntry>();
  readonly #identifying = new Semaphore(identifiedAtOnce);
  readonly #work = new Set<Promise<void>>();
  #closed = false;

  constructor(private readonly host: DocsHost) {}

  get(database: string, docId: string): DocEntry | undefined {
    return this.#entries.get(keyOf(database, docId));
  }

  /** A document is there, new or changed. */
  async changed(database: string, id: Bytes, rev: string, body: LocalDoc): Promise<void> {
    const docId = fromBytes(id);
    const known = this.get(database, docId);
    if (known?.rev === rev) return;
    if (known?.written !== undefined && body['_replication_state_time'] === known.written) {
      known.rev = rev;
      return;
    }
    await this.removed(database, id);
    if (isFinal(body) || this.#closed) return;
    const now = this.host.runtime.date();
    const entry: DocEntry = {
      ...{ database, docId, rev, body, state: 'initializing', job: undefined, errorCount: 0 },
      ...{ lastError: undefined, since: now, changed: now },
      ...{ written: undefined, retry: undefined, dropped: false },
    };
    this.#entries.set(keyOf(database, docId), entry);
    this.#background(this.#begin(entry));
  }

  /** A document is no longer there. */
  async removed(database: string, id: Bytes): Promise<void> {
    const entry = this.get(database, fromBytes(id));
    if (entry !== undefined) await this.#drop(entry);
  }

  /** A database is no longer there. */
  async removedDatabase(database: string): Promise<void> {
    const gone = [...this.#entries.values()].filter((entry) => entry.database === database);
    await Promise.all(gone.map((entry) => this.#drop(entry)));
  }

  /** Lets go of documents that are not there any more. */
  async purged(database: string, isThere: (id: Bytes) => boolean): Promise<void> {
    const gone = [...this.#entries.values()].filter(
      (entry) => entry.database === database && !isThere(toBytes(entry.docId)),
    );
    await Promise.all(gone.map((entry) => this.#drop(entry)));
  }

  /** Takes no more documents; what is being written is written. The jobs are the scheduler's to end. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const entry of this.#entries.values()) {
      entry.dropped = true;
      entry.retry?.cancel();
    }
    this.#entries.clear();
    await Promise.all(this.#work);
  }

  async #drop(entry: DocEntry): Promise<void> {
    entry.dropped = true;
    entry.retry?.cancel();
    this.#entries.delete(keyOf(entry.database, entry.docId));
    if (entry.job !== undefined) await this.host.scheduler.remove(entry.job.id, superseded);
  }

  async #begin(entry: DocEntry): Promise<void> {
    const { config } = this.host;
    let spec: ReplicationSpec;
    try {
      spec = parseSpec(entry.body, { config, user: ownerOf(entry.body), localNames: false });
    } catch (error) {
      return await this.#finish(entry, failedState(reasonOf(error), this.#now));
    }
    await this.#identifying.run(async () => {
      try {
        if (entry.dropped) return;
        const id = await this.host.identify(spec);
        if (!entry.dropped) await this.#schedule(entry, spec, id);
      } catch (error) {
        await this.#tryLater(entry, reasonOf(error));
      }
    });
  }

  async #schedule(entry: DocEntry, spec: ReplicationSpec, id: ReplicationId): Promise<void> {
    const { scheduler } = this.host;
    const other = scheduler.get(fullId(id));
    if (other !== undefined) {
      const named = `Replication \`${other.id}\` specified by document \`${entry.docId}\``;
      if (other.origin === undefined)
        return await this.#tryLater(entry, `${named} is already running as a transient replication`);
      const { docId, database } = other.origin;
      const reason = `${named} already started, triggered by document \`${docId}\` from db \`${database}\``;
      return await this.#finish(entry, failedState(reason, this.#now));
    }
    const job = new Job(id, spec, { database: entry.database, docId: entry.docId }, this.host.runtime);
    entry.job = job;
    entry.state = 'scheduled';
    scheduler.add(job, this.#listener(entry));
    if (this.#writesPassing) await this.#write(entry, triggeredState(job, this.#now));
  }

  #listener(entry: DocEntry): JobListener {
    return {
      completed: (job) => {
        entry.job = undefined;
        this.#background(this.#finish(entry, completedState(job, this.#now)));
      },
      crashed: (job) => {
        if (this.#writesPassing)
          this.#background(this.#write(entry, errorState(job.lastError ?? '', this.#now)));
        return true;
      },
    };
  }

  get #now(): Date {
    return this.host.runtime.date();
  }

  get #writesPassing(): boolean {
    return this.host.config.boolean('replicator/update_docs');
  }

  /** The document can't be worked on now, and may be later. */
  async #tryLater(entry: DocEntry, reason: string): Promise<void> {
    if (entry.dropped) return;
    entry.state = 'error';
    entry.lastError = reason;
    entry.errorCount++;
    entry.changed = this.host.runtime.date();
    const again = (): void => this.#background(this.#begin(entry));
    entry.retry = this.host.runtime.setIdleTimer(again, retryWaitMs(this.host.config, entry.errorCount));
    if (this.#writesPassing) await this.#write(entry, errorState(reason, this.#now));
  }

  /** Nothing is left to be done. */
  async #finish(entry: DocEntry, state: DocState): Promise<void> {
    if (entry.dropped) return;
    await this.#write(entry, state);
    if (this.get(entry.database, entry.docId) === entry) await this.#drop(entry);
  }

  async #write(entry: DocEntry, state: DocState): Promise<void> {
    const { database, docId, rev } = entry;
    entry.written = state._replication_state_time;
    const saved = await writeState(this.host.registry(), database, toBytes(docId), rev, state);
    if (saved === undefined) return;
    entry.rev = saved;
    const { docs } = this.host.counts;
    if (state._replication_state === 'failed') docs.failed_state_updates++;
    else if (state._replication_state === 'completed') docs.completed_state_updates++;
  }

  #background(work: Promise<void>): void {
    const logged = work
      .catch((error: unknown) => this.host.logger.error({ err: error }, 'a replication document failed'))
      .finally(() => this.#work.delete(logged));
    this.#work.add(logged);
  }
}

const keyOf = (database: string, docId: string): string => `${database}\0${docId}`;

/** Whom a replication belongs to. */
function ownerOf({ owner, user_ctx: context }: LocalDoc): UserContext {
  const { name, roles } = (typeof context === 'object' && context !== null ? context : {}) as LocalDoc;
  return {
    name: typeof name === 'string' ? name : typeof owner === 'string' ? owner : null,
    roles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
  };
}
