import type { Runtime, Timer } from '../base/runtime.js';
import { Budget, type Share } from '../base/budget.js';
import { RequestError, Unavailable } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { UserContext } from '../base/user-context.js';
import type { Config } from '../config/config.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import type { NamedInput } from '../shard/document-input.js';
import { saveDocs, type Saved } from './save-docs.js';

interface Batch {
  database: Database;
  user: UserContext;
  docs: NamedInput[];
  share: Share;
  timer: Timer;
}

/**
 * Documents that came with `batch=ok`: kept in memory per database and user, and saved together after a while, when
 * there are many, or when a full commit is requested. What the save refuses is only logged.
 */
export class BatchWrites {
  readonly #batches = new Map<string, Batch>();
  readonly #saving = new Set<Promise<void>>();
  readonly #budget: Budget;

  constructor(
    private readonly registry: () => DatabaseRegistry,
    private readonly config: Config,
    private readonly logger: Logger,
    private readonly runtime: Runtime,
  ) {
    this.#budget = new Budget(() => config.number('tuffet/batch_memory_bytes'), 0, runtime);
  }

  /** Refuses what would be too much to keep in memory. */
  add(database: Database, user: UserContext, doc: NamedInput): void {
    const key = JSON.stringify([database.record.instance, user.name, user.roles]);
    let batch = this.#batches.get(key);
    if (batch === undefined) {
      const ms = this.config.number('tuffet/batch_save_interval_ms');
      const timer = this.runtime.setTimer(() => this.#save(key), ms);
      this.#batches.set(key, (batch = { database, user, docs: [], share: this.#budget.share(), timer }));
    }
    if (!batch.share.tryGrow(bytesOf(doc)))
      throw new Unavailable('Too many documents of `batch=ok` wait to be saved; try again later.');
    batch.docs.push(doc);
    if (batch.docs.length >= this.config.number('tuffet/batch_save_size')) this.#save(key);
  }

  /** Saves what is waiting, of one database or of all. */
  async flush(database?: Database): Promise<void> {
    for (const [key, batch] of this.#batches) {
      if (database === undefined || batch.database.record.instance === database.record.instance)
        this.#save(key);
    }
    await Promise.all(this.#saving);
  }

  #save(key: string): void {
    const batch = this.#batches.get(key);
    if (batch === undefined) return;
    batch.timer.cancel();
    this.#batches.delete(key);
    const work = this.#saveDocs(batch).catch((error: unknown) => {
      const facts = { database: batch.database.name, docs: batch.docs.length };
      if (error instanceof RequestError)
        this.logger.info({ ...facts, reason: error.message }, 'a batch of documents was refused');
      else this.logger.error({ ...facts, err: error }, 'a batch of documents was not saved');
    });
    this.#saving.add(work);
    void work.finally(() => {
      batch.share.release();
      this.#saving.delete(work);
    });
  }

  async #saveDocs(batch: Batch): Promise<void> {
    const { database } = batch;
    const registry = this.registry();
    const current = registry.database(database.name);
    if (current.record.instance !== database.record.instance) return;
    for (const saved of await this.#saveEach(registry, current, batch)) {
      if (saved instanceof RequestError)
        this.logger.info(
          { database: database.name, reason: saved.message },
          'a document of a batch was refused',
        );
    }
  }

  /** Together if that goes well; one by one where a document is refused, so that it does not take the others with it. */
  async #saveEach(registry: DatabaseRegistry, database: Database, { user, docs }: Batch): Promise<Saved[]> {
    const options = { user, newEdits: true };
    try {
      return await saveDocs(registry, database, docs, options);
    } catch (error) {
      if (!(error instanceof RequestError) || docs.length === 1) throw error;
    }
    const saved: Saved[] = [];
    for (const doc of docs) {
      try {
        saved.push(...(await saveDocs(registry, database, [doc], options)));
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        saved.push(error);
      }
    }
    return saved;
  }
}

/** What a document takes in memory beside its text. */
const documentBytes = 500;

function bytesOf({ id, body, attachments = [] }: NamedInput): number {
  const data = attachments.reduce((sum, each) => sum + (each.kind === 'data' ? each.data.length : 0), 0);
  return documentBytes + id.length + body.length + data;
}
