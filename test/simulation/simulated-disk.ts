import { StorageError } from '../../src/base/storage-errors.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import type { Bytes, Commit, Write } from '../../src/storage/store.js';
import type { Random } from '../model/random.js';
import type { SimulatedRuntime } from './simulated-runtime.js';

/** What is on the disk for good, and what is only on its way there. */
interface Image {
  flushed: Map<Bytes, Bytes>;
  /** Batches that were handed over and are not flushed, in their order. */
  pending: (readonly Write[])[];
  /** What is there of documents that no crash can forget; of indexes only. */
  safe: Map<Bytes, Bytes>;
  /** Flushed batches that may be of other documents. */
  unsafe: (readonly Write[])[];
}

/** The store whose contents follow from those of others. */
export const indexStore = 'indexes';

/**
 * The disk of a simulated machine. A batch becomes visible after a while and is flushed some time later. A crash keeps what
 * was flushed and any number of the batches after it, whole: a torn batch is one that LMDB does not find. It may be full or
 * fail for a while; then it takes nothing.
 */
export class SimulatedDisk {
  readonly #images = new Map<string, Image>();
  /** Blobs are synced before a document names them, so a crash forgets none. */
  readonly blobs = new Map<string, Buffer>();
  state: 'good' | 'full' | 'failing' = 'good';

  constructor(private readonly random: Random) {}

  open(name: string, runtime: SimulatedRuntime): SimulatedStore {
    let image = this.#images.get(name);
    if (image === undefined) {
      image = { flushed: new Map(), pending: [], safe: new Map(), unsafe: [] };
      this.#images.set(name, image);
    }
    return new SimulatedStore(this, image, runtime, this.random);
  }

  /** What is left when the power fails. Gives how many batches of documents were forgotten. */
  crash(): number {
    let forgotten = 0;
    for (const [name, image] of this.#images) {
      const kept = this.random.oneIn(2) ? 0 : this.random.below(image.pending.length + 1);
      for (const batch of image.pending.slice(0, kept)) this.flush(image, batch);
      if (name !== indexStore) forgotten += image.pending.length - kept;
      image.pending = [];
    }
    // LMDB shows no document that a crash could forget, so no index there has rows of one.
    const indexes = this.#images.get(indexStore);
    if (indexes !== undefined) {
      if (forgotten > 0) indexes.flushed = new Map(indexes.safe);
      else indexes.safe = new Map(indexes.flushed);
      indexes.unsafe = [];
    }
    return forgotten;
  }

  flush(image: Image, batch: readonly Write[]): void {
    apply(image.flushed, batch);
    const indexes = this.#images.get(indexStore);
    if (image === indexes) image.unsafe.push(batch);
    if (indexes === undefined || !this.isFlushed) return;
    for (const each of indexes.unsafe.splice(0)) apply(indexes.safe, each);
  }

  /** Whether all documents that readers see survive a crash. */
  get isFlushed(): boolean {
    return [...this.#images].every(([name, { pending }]) => name === indexStore || pending.length === 0);
  }

  check(): void {
    if (this.state === 'full') throw new StorageError('insufficient_storage', 'The disk is full.', undefined);
    if (this.state === 'failing') throw new StorageError('service_unavailable', 'The disk fails.', undefined);
  }
}

export class SimulatedStore extends MemoryStore {
  #last: Promise<void> = Promise.resolve();

  constructor(
    private readonly disk: SimulatedDisk,
    private readonly image: Image,
    private readonly runtime: SimulatedRuntime,
    private readonly random: Random,
  ) {
    super();
    void super.write([...image.flushed].map(([key, value]) => ({ key, value })));
  }

  override write(given: readonly Write[]): Commit {
    const batch = given.map((write) => ({ ...write }));
    const committed = this.#after(this.#last, () => {
      this.disk.check();
      this.image.pending.push(batch);
      void super.write(batch);
    });
    const flushed = this.#after(committed, () => {
      // Those before it have been flushed: each waits for the last.
      this.disk.flush(this.image, this.image.pending.shift()!);
    });
    this.#last = flushed.catch(() => undefined);
    for (const each of [committed, flushed]) each.catch(() => undefined);
    return { committed, flushed };
  }

  override close(): Promise<void> {
    return this.#last;
  }

  async #after(before: Promise<void>, work: () => void): Promise<void> {
    await before;
    const { runtime } = this;
    await new Promise<void>((resolve) => void runtime.setTimer(resolve, this.random.below(10)));
    work();
  }
}

function apply(image: Map<Bytes, Bytes>, batch: readonly Write[]): void {
  for (const { key, value } of batch) {
    if (value === undefined) image.delete(key);
    else image.set(key, value);
  }
}
