import type { Logger } from '../base/logger.js';
import type { Runtime, Timer } from '../base/runtime.js';
import type { Config } from '../config/config.js';
import { rangeName } from '../shard/shard-ranges.js';
import type { Catalogue } from './catalogue.js';
import type { Database } from './database.js';
import { currentPositions, encodeSequence, parseSince, type Positions } from './sequence.js';
import { sequenceAt, withMark, type TimeMark } from './time-marks.js';

/** Databases whose marks are written together. */
const batchSize = 50;
/** Databases that wait for a mark; what changes beyond them is marked after a later change. */
const waitingMax = 100_000;

/** What it needs of the registry of databases. */
interface Host {
  readonly config: Config;
  readonly logger: Logger;
  readonly runtime: Runtime;
  isOwnerOf(name: string): boolean;
  hosted(name: string): Database | undefined;
  exists(name: string): boolean;
  nameOf(instance: number): string | undefined;
  watch(watcher: {
    committed(instance: number): void;
    catalogued(name: string): void;
    closing(): void;
  }): void;
}

/**
 * Knows which sequences of a database are of which time. Some time after a change, the sequence that the database has
 * reached by then is recorded with the time: a *mark*. Every change up to a mark's sequence was made at its time or before;
 * how much before is not known. The time is read after the sequence, so that this holds under any load.
 *
 * Marks are in the catalogue. A database without changes costs nothing, and nothing is done at start.
 */
export class TimeSeq {
  /** Databases that have changed since their last mark: the names by the instance numbers. */
  #changed = new Map<number, string>();
  #timer: Timer | undefined;
  #closed = false;

  constructor(
    private readonly host: Host,
    private readonly catalogue: Catalogue,
  ) {
    host.watch({
      committed: (instance) => this.#committed(instance),
      catalogued: () => {},
      closing: () => {
        this.#closed = true;
        this.#timer?.cancel();
      },
    });
  }

  /** The newest known sequence that the database had reached by that time, in seconds since 1970. */
  sequenceAt(database: Database, seconds: number): string {
    return sequenceAt(this.catalogue.timeMarks(database.name), seconds);
  }

  /** Records where the database is now, unless that is recorded already or the clock is wrong. */
  async mark(database: Database): Promise<void> {
    const seq = encodeSequence(database);
    const seconds = Math.ceil(this.host.runtime.now() / 1000);
    const marks = this.catalogue.timeMarks(database.name);
    const [lastSeconds, lastSeq] = marks.at(-1) ?? [0, ''];
    if (seq === lastSeq || seconds <= lastSeconds) return;
    if (seconds < this.host.config.number('couchdb/time_seq_min_time')) return;
    await this.#set(database, withMark(marks, [seconds, seq]));
  }

  async reset(database: Database): Promise<void> {
    await this.#set(database, []);
  }

  /** For each shard, by its range: the times of the marks, and the number of changes from each to the next. */
  histogram(database: Database): Record<string, [time: string, changes: number][]> {
    const marks = this.catalogue.timeMarks(database.name);
    const places = marks.map(([seconds, seq]) => ({ seconds, positions: parseSince(database, seq) }));
    const { shards } = database.collection;
    const current = currentPositions(database);
    return Object.fromEntries(
      shards.shards.map((shard) => [rangeName(shards.range(shard)), countsOf(places, current, shard)]),
    );
  }

  async #set({ name, record: { instance } }: Database, marks: TimeMark[]): Promise<void> {
    await this.catalogue.log.append({ type: 'mark', name, instance, marks });
  }

  #committed(instance: number): void {
    if (this.#changed.has(instance) || this.#changed.size >= waitingMax) return;
    const name = this.host.nameOf(instance);
    if (name === undefined) return;
    this.#changed.set(instance, name);
    this.#timer ??= this.host.runtime.setIdleTimer(
      () => void this.#markChanged(),
      this.host.config.number('tuffet/time_seq_interval_seconds') * 1000,
    );
  }

  async #markChanged(): Promise<void> {
    const changed = [...this.#changed];
    this.#changed = new Map();
    this.#timer = undefined;
    for (let at = 0; at < changed.length && !this.#closed; at += batchSize) {
      await Promise.all(changed.slice(at, at + batchSize).map((each) => this.#markOne(...each)));
      await this.host.runtime.nextTurn();
    }
  }

  /** One that can't be marked now is marked after its next change. */
  async #markOne(instance: number, name: string): Promise<void> {
    try {
      const database = this.host.isOwnerOf(name) ? this.host.hosted(name) : undefined;
      if (database?.record.instance === instance) await this.mark(database);
    } catch (error) {
      if (this.#closed || !this.host.exists(name)) return;
      this.host.logger.warn({ err: error, database: name }, 'the time of a sequence was not recorded');
    }
  }
}

/** What was changed before the first mark is counted from 1970. */
function countsOf(
  places: readonly { seconds: number; positions: Positions }[],
  current: Positions,
  shard: number,
): [time: string, changes: number][] {
  const starts = [{ seconds: 0, seq: 0 }];
  for (const { seconds, positions } of places) starts.push({ seconds, seq: positions[shard]! });
  if (starts[1] === undefined) return [];
  const seqs = [...starts.map(({ seq }) => seq), current[shard]!];
  const counts = starts.map(({ seconds, seq }, i): [string, number] => [
    new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'),
    Math.max(0, seqs[i + 1]! - seq),
  ]);
  return counts[0]![1] === 0 ? counts.slice(1) : counts;
}
