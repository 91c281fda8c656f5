import { Refusal } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Config } from '../config/config.js';
import type { Cluster } from './cluster.js';
import type { Database } from './database.js';
import { saveDocs } from './save-docs.js';
import type { NamedInput, SavedRev } from './update-docs.js';

interface Batch {
  database: Database;
  docs: NamedInput[];
  timer: NodeJS.Timeout;
}

/**
 * Documents that came with `batch=ok`: kept in memory per database and user, and saved together after a while, when
 * there are many, or when somebody asks for a full commit. What the save refuses is only logged.
 */
export class BatchWrites {
  readonly #batches = new Map<string, Batch>();
  readonly #saving = new Set<Promise<void>>();

  constructor(
    private readonly cluster: () => Cluster,
    private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  add(database: Database, user: string | null, doc: NamedInput): void {
    const key = `${database.record.instance} ${user ?? ''}`;
    let batch = this.#batches.get(key);
    if (batch === undefined) {
      const timer = setTimeout(() => this.#save(key), this.config.number('tuffet/batch_save_interval_ms'));
      this.#batches.set(key, (batch = { database, docs: [], timer }));
    }
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
    clearTimeout(batch.timer);
    this.#batches.delete(key);
    const work = this.#saveDocs(batch).catch((error: unknown) => {
      const facts = { database: batch.database.name, docs: batch.docs.length };
      if (error instanceof Refusal)
        this.logger.info({ ...facts, reason: error.message }, 'a batch of documents was refused');
      else this.logger.error({ ...facts, err: error }, 'a batch of documents was not saved');
    });
    this.#saving.add(work);
    void work.finally(() => this.#saving.delete(work));
  }

  async #saveDocs({ database, docs }: Batch): Promise<void> {
    const cluster = this.cluster();
    const current = cluster.database(database.name);
    if (current.record.instance !== database.record.instance) return;
    const saved = await this.#saveEach(cluster, current, docs);
    const conflicts = saved.filter((rev) => rev === undefined).length;
    if (conflicts > 0)
      this.logger.info({ database: database.name, conflicts }, 'documents of a batch were in conflict');
  }

  /** Together if that goes well; one by one where a document is refused, so that it does not take the others with it. */
  async #saveEach(cluster: Cluster, database: Database, docs: readonly NamedInput[]): Promise<SavedRev[]> {
    try {
      return await saveDocs(cluster, database, docs, true);
    } catch (error) {
      if (!(error instanceof Refusal) || docs.length === 1) throw error;
    }
    const saved: SavedRev[] = [];
    for (const doc of docs) {
      try {
        saved.push(...(await saveDocs(cluster, database, [doc], true)));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        this.logger.info(
          { database: database.name, reason: error.message },
          'a document of a batch was refused',
        );
      }
    }
    return saved;
  }
}
