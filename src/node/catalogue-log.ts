import { Followers } from '../log/followers.js';
import type { Appended, Log, LogEntry } from '../log/log.js';
import { decodeCatalogueCommand, encodeCatalogueCommand } from './catalogue-codec.js';
import {
  applyCatalogue,
  readMeta,
  type CatalogueCommand,
  type CatalogueResults,
} from './catalogue-commands.js';
import { Placement, type CatalogueQueue } from './catalogue-journal.js';

/** The log of the catalogue, embedded in the queue of its store. */
export class CatalogueLog implements Log<CatalogueCommand, CatalogueResults> {
  readonly #followers = new Followers<CatalogueCommand>();
  #applied: LogEntry<CatalogueCommand>[] = [];

  constructor(private readonly queue: CatalogueQueue) {}

  get position(): number {
    return readMeta(this.queue.store).position ?? 0;
  }

  append<D extends CatalogueCommand>(given: D): Promise<Appended<CatalogueResults[D['type']]>> {
    const { commits, overlay, encoded } = this.queue;
    const command = encoded ? (decodeCatalogueCommand(encodeCatalogueCommand(given)) as D) : given;
    return commits.submit(() => {
      const placement = new Placement(command.name, overlay);
      const { position, result } = applyCatalogue(command, overlay);
      const begins = command.type === 'create' || (command.type === 'divide' && command.step === 'begin');
      const { groups } = result ?? { groups: [] };
      if (begins) placement.created(groups);
      else placement.deleted(groups);
      this.#applied.push({ position, command });
      return { position, result: result as CatalogueResults[D['type']] };
    });
  }

  follow(after: number): AsyncIterableIterator<LogEntry<CatalogueCommand>> {
    return this.#followers.follow(after, this.position);
  }

  /** Ends a batch; what it gives is called when the batch is durable. */
  seal(): () => void {
    const entries = this.#applied;
    this.#applied = [];
    return () => this.#followers.deliver(entries);
  }
}
