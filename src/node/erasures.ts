import type { Logger } from '../base/logger.js';
import type { Views } from '../indexes/views.js';
import { DatabaseKeys } from '../shard/keys.js';
import type { Erasure } from './catalogue-journal.js';
import type { Catalogue } from './catalogue.js';
import type { Volumes } from './volumes.js';

/** Keys of a removed database erased in one commit: few, so that writers hardly notice. */
const eraseKeysMax = 2_000;

/** What erasures need of the node. */
interface Host {
  readonly isClosing: boolean;
  readonly logger: Logger;
  readonly views: Views;
  /** Gives back the disk space that a volume no longer needs. */
  reclaim(slot: number): Promise<void>;
}

/** Removes what deleted databases have left. */
export class Erasures {
  readonly #underWay = new Set<Promise<void>>();
  /** The groups that are being removed. */
  readonly #groups = new Set<number>();

  constructor(
    private readonly registry: Host,
    private readonly catalogue: Catalogue,
    private readonly volumes: Volumes,
    /** Removes files that nothing names any more. */
    private readonly sweep: () => Promise<unknown>,
  ) {}

  /** One group after the other. */
  begin(erasures: readonly Erasure[]): void {
    const work = this.#eraseAll(erasures);
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  /** Resolves when nothing is under way; what is left is removed after the next start. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  async #eraseAll(erasures: readonly Erasure[]): Promise<void> {
    for (const erasure of erasures) {
      const { instance } = erasure;
      if (this.registry.isClosing) return;
      if (this.#groups.has(instance)) continue;
      this.#groups.add(instance);
      await this.#erase(erasure).catch((error: unknown) => {
        this.registry.logger.error(
          { err: error, instance },
          'removing a deleted database failed; it is tried again at the next start',
        );
      });
      this.#groups.delete(instance);
    }
  }

  async #erase({ instance, slot }: Erasure): Promise<void> {
    const { registry } = this;
    const keys = new DatabaseKeys(instance);
    await this.volumes.endReads(instance);
    while (!registry.isClosing && (await this.volumes.get(slot).erase(keys, eraseKeysMax)));
    if (registry.isClosing) return;
    await registry.views.drop(instance);
    await this.catalogue.journal.record({ type: 'erased', instance });
    await this.sweep();
    await registry.reclaim(slot);
  }
}
