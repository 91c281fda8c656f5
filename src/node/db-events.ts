import type { Runtime, Timer } from '../base/runtime.js';
import { asBytes, toBytes, type Bytes } from '../base/bytes.js';
import type { Logger } from '../base/logger.js';
import type { Database } from './database.js';

/** The database that holds the events of all others. */
export const eventsDatabase = '_global_changes';

export type EventType = 'created' | 'updated' | 'deleted';

const eventId = /^(?:created|updated|deleted):/;

/** Whether a document of that database has an id as those of events have. */
export const isEvent = (id: string): boolean => eventId.test(id);

/** Where events go, and how long they may wait. */
export interface EventTarget {
  readonly logger: Logger;
  readonly runtime: Runtime;
  /** The database of events; undefined where there is none. */
  eventsDatabase(): Database | undefined;
  readonly eventDelayMs: number;
  /** One node of a cluster records events. */
  readonly membership: { isOwnerOf(stream: number | undefined): boolean };
}

/** Events that wait; with more, they are written at once. */
const waitingMax = 10_000;

/**
 * Keeps, for each database, when it was created, changed and deleted last: as documents of a database of their own, whose
 * changes are the feed of databases. No request waits for them: they are gathered for a while and written together, so that
 * a database with a thousand writes a second costs a few documents a second. What the process had not written when it
 * was killed is lost; what changed after that is told by the next write.
 */
export class DbEvents {
  /** Ids of documents, in the order of what they tell. */
  #waiting = new Set<Bytes>();
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(private readonly target: EventTarget) {}

  /** `stream`: that of a database whose documents were changed. */
  note(type: EventType, name: string, stream?: number): void {
    // Its own changes would never end.
    if (name === eventsDatabase || this.#closed || !this.target.membership.isOwnerOf(stream)) return;
    const id = toBytes(`${type}:${name}`);
    this.#waiting.delete(id);
    this.#waiting.add(id);
    if (this.#waiting.size >= waitingMax) void this.#flush();
    else this.#timer ??= this.target.runtime.setIdleTimer(() => void this.#flush(), this.target.eventDelayMs);
  }

  /** Writes what waits, and takes nothing more. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#flush();
  }

  #flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const ids = [...this.#waiting];
    this.#waiting.clear();
    this.#writing = this.#writing.then(() => this.#write(ids));
    return this.#writing;
  }

  async #write(ids: readonly Bytes[]): Promise<void> {
    try {
      const database = ids.length === 0 ? undefined : this.target.eventsDatabase();
      if (database === undefined) return;
      const byShard = new Map<number, Bytes[]>();
      for (const id of ids) {
        const shard = database.shardOf(id);
        byShard.set(shard, [...(byShard.get(shard) ?? []), id]);
      }
      await Promise.all([...byShard].map(([shard, list]) => writeShard(database, shard, list)));
    } catch (error) {
      this.target.logger.error({ err: error, events: ids.length }, 'events of databases were not written');
    }
  }
}

/** A new revision of each document; their histories are not used. */
async function writeShard(database: Database, shard: number, ids: readonly Bytes[]): Promise<void> {
  const edits = ids.map((id) => {
    const known = database.collection.winner(id);
    const parent = known === undefined || known.deleted ? undefined : { pos: known.pos, hash: known.hash };
    return { id, parent, path: undefined, deleted: false, body: asBytes('{}') };
  });
  const { instance } = database.record;
  await database.submit({ type: 'edit', instance, shard, edits, revs_limit: 1 });
}
