import type { Runtime } from '../base/runtime.js';
import { notFound, RequestError, Unavailable } from '../base/errors.js';
import type { ScriptHost } from '../script/script-host.js';
import type { Store } from '../storage/store.js';
import { DocSource, ShardsChanged } from './doc-source.js';
import { needBodiesOnly } from './fields-mapper.js';
import { IndexDamage } from './index-damage.js';
import { firstNumberOf, IndexKeys } from './index-keys.js';
import { IndexPass } from './index-pass.js';
import { indexNumber, IndexRegister } from './index-register.js';
import { decodeIndexState, encodeIndexState, follows, isCurrent, newIndexState } from './index-state.js';
import { spaceOf, type FailedView, type IndexJob, type OnProgress } from './index-job.js';
import { Locks } from './locks.js';
import { ExceededLimits, MapLimits } from './map-limits.js';
import { mapperOf } from './mapper.js';
import { OpenIndex } from './open-index.js';
import { reducersOf } from './reduce/tree-reducer.js';
import { blocksReducer } from './search-blocks.js';
import { NodeCache } from './tree/node-cache.js';
import { isSearchMap, type ViewDefinition } from './definition.js';

/** Nodes that an update has decoded, of all its indexes: it reads many of them several times. */
const nodesBytesMax = 8 * 1024 * 1024;
const keyOf = ({ instance }: IndexJob, { signature }: ViewDefinition): string => `${instance}/${signature}`;

/** Passes over the changes before a job ends, even if more changes have come meanwhile. */
const passesMax = 20;

/**
 * Brings indexes up to date with their documents. It is the only one that writes to the index store, and runs wherever
 * that store and the documents can be read: on a thread of its own, or, when all is kept in memory, on the serving one.
 *
 * A pass goes through the changes that were there when it began. Documents that change meanwhile are seen by the next
 * pass; the last one is so short that it is read at a single moment, so that the index then shows the documents exactly
 * as they were at that moment.
 */
export class Indexer {
  readonly #register: IndexRegister;
  readonly #locks = new Locks();
  /** Databases that are gone: work for them stops. */
  readonly #dropped = new Set<number>();
  #erasing: Promise<void> = Promise.resolve();
  readonly #running = new Set<Promise<unknown>>();
  readonly limits = new MapLimits();
  #closing = false;

  constructor(
    private readonly store: Store,
    private readonly scripts: ScriptHost,
    /** Batches of documents that are mapped at the same time. */
    private readonly depth: number,
    private readonly runtime: Runtime,
    slot = 0,
  ) {
    this.#register = new IndexRegister(store, firstNumberOf(slot));
    this.#erase();
  }

  /** Resolves when the job's indexes show all that was on disk when it began. */
  async update(job: IndexJob, documents: Store, onProgress: OnProgress): Promise<readonly FailedView[]> {
    const work = this.#update(job, documents, onProgress);
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  async #update(job: IndexJob, documents: Store, onProgress: OnProgress): Promise<readonly FailedView[]> {
    const source = new DocSource(documents, job.instance, job.q, {
      ...job,
      bodiesOnly: needBodiesOnly(job.views),
    });
    const keys = job.views.map((view) => keyOf(job, view));
    const failed: FailedView[] = [];
    await this.#locks.hold(keys.sort(), () =>
      this.#mending(job, async () => {
        failed.length = 0;
        for (const group of await this.#groups(job, source))
          await this.#fill(job, group, source, onProgress, failed);
      }),
    );
    return failed;
  }

  /** Brings a group up to date, without those of its views whose functions exceed their limits. */
  async #fill(
    job: IndexJob,
    group: OpenIndex[],
    source: DocSource,
    onProgress: OnProgress,
    failed: FailedView[],
  ): Promise<void> {
    try {
      await this.#advance(job, group, source, onProgress);
    } catch (error) {
      const views = group.map(({ view }) => view);
      let parts: (readonly ViewDefinition[])[];
      if (error instanceof ExceededLimits) {
        failed.push({ ...error.failure, signature: error.view.signature });
        parts = [views.filter((view) => view !== error.view)];
      } else if (!(error instanceof RequestError) || error.error !== 'os_process_error') {
        throw error;
      } else if (views.length === 1) {
        failed.push({ ...this.limits.failed(keyOf(job, views[0]!), error), signature: views[0]!.signature });
        return;
      } else {
        // Whose function it was shows when each is run for itself.
        parts = views.map((view) => [view]);
      }
      for (const part of parts)
        for (const rest of await this.#groups({ ...job, views: part }, source))
          await this.#fill(job, rest, source, onProgress, failed);
    }
  }

  /** Removes the indexes of a database, all but those that are named. */
  async keepOnly(instance: number, signatures: readonly string[]): Promise<void> {
    const kept = new Set(signatures);
    for (const signature of this.#register.signatures(instance)) {
      if (kept.has(signature)) continue;
      await this.#locks.hold([`${instance}/${signature}`], () => this.#register.remove(instance, signature));
    }
    this.#erase();
  }

  /** For a database that is gone. */
  async drop(instance: number): Promise<void> {
    this.#dropped.add(instance);
    await this.keepOnly(instance, []);
  }

  /** Removes a damaged index, to be rebuilt; one that was changed since its damage was seen is left alone. */
  async discard(number: number, root: number): Promise<void> {
    const found = this.#register.find(number);
    if (found === undefined) return;
    const { instance, signature } = found;
    await this.#locks.hold([`${instance}/${signature}`], async () => {
      if (indexNumber(this.store, instance, signature) === number && this.#isStill(number, root))
        await this.#register.remove(instance, signature);
    });
    this.#erase();
  }

  #isStill(number: number, root: number): boolean {
    try {
      return decodeIndexState(this.store.get(new IndexKeys(number).state)!).tree.root === root;
    } catch {
      return true;
    }
  }

  /** Runs what reads and changes the indexes of a job; where one is found damaged, it begins again without them. */
  async #mending<T>(job: IndexJob, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof IndexDamage)) throw error;
      for (const { signature } of job.views) await this.#register.remove(job.instance, signature);
      this.#erase();
      return await work();
    }
  }

  /** Breaks work off; what it has written so far is where it goes on next time. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.scripts.close();
    await Promise.allSettled(this.#running);
    await this.#erasing;
  }

  #erase(): void {
    this.#erasing = this.#erasing
      .then(() => this.#register.eraseRemoved(() => this.#closing))
      // What could not be erased now is still noted, and is tried again at the next start.
      .catch(() => {});
  }

  #check(instance: number): void {
    if (this.#closing) throw new Unavailable('The server is being stopped.');
    if (this.#dropped.has(instance)) throw notFound('Database does not exist.');
  }

  /** Views that have come equally far are filled together, so that documents are read and parsed once for all of them. */
  async #groups(job: IndexJob, source: DocSource): Promise<OpenIndex[][]> {
    const groups = new Map<string, OpenIndex[]>();
    // Ends with the update: ids of nodes are used again after a commit that has failed.
    const nodes = new NodeCache(nodesBytesMax);
    for (const view of job.views) {
      const index = await this.#open(job, view, source, nodes);
      const place = JSON.stringify(index.state.positions);
      groups.set(place, [...(groups.get(place) ?? []), index]);
    }
    return [...groups.values()];
  }

  async #open(job: IndexJob, view: ViewDefinition, source: DocSource, nodes: NodeCache): Promise<OpenIndex> {
    const { instance } = job;
    const reducers = isSearchMap(view.map)
      ? [blocksReducer]
      : reducersOf(view.reduce, this.scripts, spaceOf(instance));
    const number = indexNumber(this.store, instance, view.signature);
    if (number !== undefined) {
      const state = decodeIndexState(this.store.get(new IndexKeys(number).state)!);
      const states = source.states();
      if (follows(state, source.shards, states))
        return new OpenIndex(this.store, number, view, state, reducers, this.runtime, nodes);
      await this.#register.remove(instance, view.signature);
      this.#erase();
    }
    source.states();
    const state = newIndexState(source.shards, !isSearchMap(view.map));
    const begun = this.#register.begin(instance, view.signature);
    const stateKey = new IndexKeys(begun.number).state;
    await this.store.write([...begun.writes, { key: stateKey, value: encodeIndexState(state) }]).committed;
    return new OpenIndex(this.store, begun.number, view, state, reducers, this.runtime, nodes);
  }

  async #advance(
    job: IndexJob,
    group: OpenIndex[],
    source: DocSource,
    onProgress: OnProgress,
  ): Promise<void> {
    const mapper = mapperOf(this.scripts, job, group, this.runtime);
    for (let pass = 0; pass < passesMax; pass++) {
      this.#check(job.instance);
      const states = source.states();
      if (isCurrent(group[0]!.state, states)) return;
      const work = new IndexPass(group, source, mapper, states, {
        runtime: this.runtime,
        depth: this.depth,
        onProgress,
        check: () => this.#check(job.instance),
        hasOthers: () => this.#running.size > 1,
        onExceeded: ({ view }, docId) => this.limits.exceeded(keyOf(job, view), view, docId),
      });
      try {
        if (await work.run()) return;
      } catch (error) {
        // What the pass has written stands; the next one goes on from there with the shards there are then.
        if (!(error instanceof ShardsChanged)) throw error;
      }
    }
  }
}
