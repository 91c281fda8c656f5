import { asBytes, toBytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import type { Timer } from '../base/runtime.js';
import type { ListedSetting } from './catalogue-commands.js';
import type { DatabaseRegistry } from './database-registry.js';
import type { Database } from './database.js';

const namesAtOnce = 1_000;
/** Longer timers would overflow. */
const timerMsMax = 2 ** 31 - 1;

export interface VisitOptions {
  /** Seconds until the first round, and after each of them. */
  firstSeconds(): number;
  seconds(): number;
  /** The databases that have a setting; all of them where it is undefined. */
  having(): ListedSetting | undefined;
  visit(database: Database): Promise<void>;
  /** What the log says of a visit that failed. The next round tries again. */
  failed: string;
}

/** Visits databases in rounds, one after the other while others are served, until the registry closes. */
export class DatabaseVisits {
  #timer: Timer;
  #closed = false;

  constructor(
    private readonly registry: DatabaseRegistry,
    private readonly options: VisitOptions,
  ) {
    registry.watch({
      committed: () => {},
      catalogued: () => {},
      closing: () => {
        this.#closed = true;
        this.#timer.cancel();
      },
    });
    this.#timer = this.#schedule(options.firstSeconds());
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  #schedule(seconds: number): Timer {
    const ms = Math.min(seconds * 1000, timerMsMax);
    return this.registry.runtime.setIdleTimer(() => void this.#run(), ms);
  }

  async #run(): Promise<void> {
    try {
      for await (const name of this.#names()) {
        if (this.#closed) return;
        if (!this.registry.membership.mayOwn) break;
        if (this.registry.isOwnerOf(name)) await this.#visit(name);
      }
    } catch (error) {
      this.#report(error);
    }
    if (!this.#closed) this.#timer = this.#schedule(this.options.seconds());
  }

  /** Page by page, and one in a turn: where a visit has nothing to do, it does not leave the turn. */
  async *#names(): AsyncIterable<string> {
    const having = this.options.having();
    const all = { inclusiveEnd: true, descending: false, skip: 0, limit: namesAtOnce };
    const query = having === undefined ? all : { ...all, having };
    for (let names = [...this.registry.names(query)]; names.length > 0;) {
      for (const name of names) {
        yield name;
        await this.registry.runtime.nextTurn();
      }
      if (names.length < namesAtOnce) return;
      names = [...this.registry.names({ ...query, start: asBytes(`${toBytes(names.at(-1)!)}\0`) })];
    }
  }

  async #visit(name: string): Promise<void> {
    try {
      const database = this.registry.hosted(name);
      if (database !== undefined) await this.options.visit(database);
    } catch (error) {
      if (this.registry.exists(name)) this.#report(error, name);
    }
  }

  #report(error: unknown, database?: string): void {
    if (this.#closed) return;
    const { logger } = this.registry;
    const message = `${this.options.failed}; it is tried again later`;
    if (error instanceof RequestError) logger.warn({ database, reason: error.message }, message);
    else logger.error({ err: error, database }, message);
  }
}
