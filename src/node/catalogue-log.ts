import type { Bytes } from '../base/bytes.js';
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

  /** Where commands go that are applied when they come back from a stream, on every node. */
  send: ((command: Bytes) => Promise<Appended<unknown>>) | undefined;
  /** Called with what was applied, when it is on disk. */
  onApplied: (entries: readonly LogEntry<CatalogueCommand>[]) => void = () => {};

  constructor(private readonly queue: CatalogueQueue) {}

  get position(): number {
    return readMeta(this.queue.store).position ?? 0;
  }

  append<D extends CatalogueCommand>(given: D): Promise<Appended<CatalogueResults[D['type']]>> {
    const { commits, encoded } = this.queue;
    if (this.send !== undefined)
      return this.send(encodeCatalogueCommand(given)) as Promise<Appended<CatalogueResults[D['type']]>>;
    const command = encoded ? (decodeCatalogueCommand(encodeCatalogueCommand(given)) as D) : given;
    return commits.submit(() => this.apply(command));
  }

  /** Applies a command, within a step of the queue. */
  apply<D extends CatalogueCommand>(command: D): Appended<CatalogueResults[D['type']]> {
    const { overlay } = this.queue;
    const placement = new Placement(command.name, overlay);
    const { position, result } = applyCatalogue(command, overlay);
    const begins = command.type === 'create' || (command.type === 'divide' && command.step === 'begin');
    const groups = result !== undefined && 'groups' in result ? result.groups : [];
    if (begins) placement.created(groups, command.type === 'create' ? command.settings.stream : undefined);
    else placement.deleted(groups);
    this.#applied.push({ position, command });
    return { position, result: result as CatalogueResults[D['type']] };
  }

  follow(after: number): AsyncIterableIterator<LogEntry<CatalogueCommand>> {
    return this.#followers.follow(after, this.position);
  }

  /** Ends a batch; what it gives is called when the batch is durable. */
  seal(): () => void {
    const entries = this.#applied;
    this.#applied = [];
    return () => {
      this.#followers.deliver(entries);
      this.onApplied(entries);
    };
  }
}
