import { setTimeout as sleep } from 'node:timers/promises';
import httpAdapter from 'pouchdb-adapter-http';
import memoryAdapter from 'pouchdb-adapter-memory';
import PouchDB from 'pouchdb-core';
import replication from 'pouchdb-replication';

PouchDB.plugin(httpAdapter);
PouchDB.plugin(memoryAdapter);
PouchDB.plugin(replication);

export interface Replicated {
  ok: boolean;
  docs_read: number;
  docs_written: number;
  doc_write_failures: number;
}

export interface LiveReplication extends Promise<Replicated> {
  on(event: string, listener: (value: unknown) => void): LiveReplication;
  cancel(): void;
}

export interface Pouch extends PouchDB {
  replicate: {
    to(target: unknown, options?: Record<string, unknown>): LiveReplication;
    from(source: unknown, options?: Record<string, unknown>): LiveReplication;
  };
  changes(options: Record<string, unknown>): Promise<{
    results: { id: string; changes: { rev: string }[] }[];
  }>;
  getAttachment(id: string, name: string): Promise<Buffer>;
}

let names = 0;

/** A PouchDB in memory, or one that speaks to a server. */
export function openPouch(address?: string): Pouch {
  if (address === undefined)
    return new PouchDB(`pouch${++names}-${process.pid}`, { adapter: 'memory' }) as Pouch;
  const pouch = new PouchDB(address, { skip_setup: true }) as Pouch;
  // A replication asks for this beside its work, and has nobody to hear that it failed.
  const info = pouch.info.bind(pouch);
  pouch.info = async () => {
    for (let tries = 0; ; tries++) {
      try {
        return await info();
      } catch (error) {
        if (tries > 200) throw error;
        await sleep(50);
      }
    }
  };
  return pouch;
}

/**
 * Live in one direction, and begun anew when it has ended. PouchDB's own `retry` is not used: after a failed request it
 * begins anew, but what it was doing goes on beside that, and when this reads changes again it begins behind the batches that
 * were dropped. Its checkpoints then claim what was never replicated. A replication that is cancelled does not go on.
 */
export function live(from: Pouch, to: Pouch): { cancel(): void } {
  let ended = false;
  let going: LiveReplication;
  const begin = (): void => {
    if (ended) return;
    const replication = from.replicate.to(to, { live: true, retry: false, batch_size: 200 });
    going = replication;
    replication.catch(() => undefined);
    const again = (): void => {
      replication.cancel();
      setTimeout(begin, 50);
    };
    void replication.on('error', again).on('complete', again);
  };
  begin();
  return {
    cancel: () => {
      ended = true;
      going.cancel();
    },
  };
}

/** Of each document its leaves. */
export async function leavesOf(pouch: Pouch): Promise<Map<string, string>> {
  const { results } = await pouch.changes({ style: 'all_docs', since: 0 });
  const pairs = results.map(({ id, changes }): [string, string] => [
    id,
    changes
      .map(({ rev }) => rev)
      .sort()
      .join(),
  ]);
  return new Map(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Waits until both have the same leaves; tells where they don't in time. */
export async function settled(
  left: () => Promise<Map<string, string>>,
  right: () => Promise<Map<string, string>>,
  withinMs: number,
): Promise<string[]> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const [a, b] = await Promise.all([left(), right()]);
    const ids = new Set([...a.keys(), ...b.keys()]);
    const different = [...ids].filter((id) => a.get(id) !== b.get(id));
    if (different.length === 0) return [];
    if (Date.now() > deadline)
      return different.slice(0, 10).map((id) => `${id}: ${a.get(id) ?? 'none'} / ${b.get(id) ?? 'none'}`);
    await sleep(200);
  }
}
