import { BoundedMap } from '../base/bounded-map.js';
import type { Runtime } from '../base/runtime.js';
import { IndexBackends } from './index-backends.js';
import { slotsIn } from './index-folder.js';
import { slotOfNumber } from './index-keys.js';
import { ThreadBackend, type ThreadBackendOptions } from './thread-backend.js';

/** Groups whose place is remembered; that of others is looked up. */
const placesMax = 10_000;

/**
 * Several stores of indexes, each with a thread of its own that fills them, so that groups are indexed at the same time. The
 * stores, called slots, lie side by side below `folder`. A group stays where its indexes are; new groups are dealt out in turn.
 * The number of slots may grow from start to start, but none is given up.
 */
export class ThreadBackends extends IndexBackends {
  readonly all: readonly ThreadBackend[];
  readonly #places = new BoundedMap<number, ThreadBackend>(placesMax);

  constructor(folder: string, count: number, options: ThreadBackendOptions, runtime: Runtime) {
    super();
    const slots = Math.max(count, slotsIn(folder));
    this.all = Array.from(
      { length: slots },
      (_, slot) => new ThreadBackend(folder, { ...options }, runtime, slot),
    );
  }

  of(instance: number): ThreadBackend {
    const known = this.#places.get(instance);
    if (known !== undefined) return known;
    const home = this.all.find((backend) => backend.has(instance)) ?? this.all[instance % this.all.length]!;
    this.#places.set(instance, home);
    return home;
  }

  discard(number: number, root: number): Promise<void> {
    return this.all[slotOfNumber(number)]!.discard(number, root);
  }

  set settings(settings: ThreadBackend['settings']) {
    for (const backend of this.all) backend.settings = settings;
  }
}
