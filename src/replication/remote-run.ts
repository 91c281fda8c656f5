import { setMaxListeners } from 'node:events';
import { SystemRuntime, type Timer } from '../base/runtime.js';
import { makeHttpPeer, type HttpPeer } from './http/http-peer.js';
import type { LocalDoc } from './peer.js';
import { Replication } from './replication.js';
import type { LoggedLine, RemoteSetup, Report } from './replication-thread.js';
import { ReplicatorCounts } from './replicator-counts.js';

/** How often it is told how far a batch has come. */
const reportMs = 1_000;

/** A run of a replication between two other servers, on the thread for them. */
export class RemoteRun {
  readonly #runtime = new SystemRuntime();
  readonly #controller = new AbortController();
  readonly #peers: HttpPeer[];
  readonly #replication: Replication;
  readonly #counts = new ReplicatorCounts();
  #lines: LoggedLine[] = [];
  /** Takes reports while somebody waits for the end of a step. */
  #note: ((report: Report) => void) | undefined;

  constructor({ spec, id, source, target, tls, userAgent }: RemoteSetup) {
    const { signal } = this.#controller;
    // Every request under way listens to it.
    setMaxListeners(0, signal);
    const runtime = this.#runtime;
    const counts = this.#counts;
    const tools = { tls, userAgent, signal, runtime, counts };
    const peers = [makeHttpPeer(source, spec, tools), makeHttpPeer(target, spec, tools)] as const;
    this.#peers = [...peers];
    const log =
      (level: LoggedLine['level']) =>
      (facts: object, message: string): void => {
        this.#lines.push({ level, facts, message });
        this.#report();
      };
    const logger = { warn: log('warn'), debug: log('debug') };
    const onProgress = (): void => this.#report();
    this.#replication = new Replication({
      ...{ spec, id, source: peers[0], target: peers[1], logger, runtime, counts, signal, onProgress },
    });
  }

  open(note: (report: Report) => void): Promise<void> {
    return this.#reporting(note, () => this.#replication.open());
  }

  run(note: (report: Report) => void): Promise<LocalDoc> {
    return this.#reporting(note, () => this.#replication.run());
  }

  async checkpoint(note: (report: Report) => void): Promise<void> {
    try {
      await this.#replication.checkpoint();
    } finally {
      this.#report(this.#note ?? note);
    }
  }

  async close(): Promise<void> {
    this.#controller.abort();
    await Promise.allSettled(this.#peers.map((peer) => peer.close()));
  }

  /** Before a step has an answer, all that it did is told. */
  async #reporting<Result>(note: (report: Report) => void, step: () => Promise<Result>): Promise<Result> {
    this.#note = note;
    const timer: Timer = this.#runtime.setRepeating(() => this.#report(), reportMs);
    try {
      return await step();
    } finally {
      timer.cancel();
      this.#report();
      this.#note = undefined;
    }
  }

  #report(note = this.#note): void {
    if (note === undefined) return;
    const { stats, standing, updatedAt } = this.#replication;
    const counts = this.#counts.take();
    note({ stats: { ...stats }, standing, updatedAt, counts, lines: this.#lines.splice(0) });
  }
}
