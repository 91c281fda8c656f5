import type { Rejoining } from '../cluster/rejoining.js';
import type { Admission } from '../http/connection/admission.js';
import type { Assembly } from './assemble.js';
import type { OwnedWork } from './owned-work.js';
import type { WorkerPool } from '../workers/worker-pool.js';

/** How long requests under way may go on before the stores are closed under them. */
const settleMs = 2_000;
/** After which time a node of a cluster that could not open its stores tries it again. */
const againMs = { first: 1_000, max: 10_000 };

/** Closes the stores of a running server and opens them again, while new requests wait. */
export class Restarting {
  #underWay: Promise<void> | undefined;
  #isClosing = false;
  /** Requests that wait for a restart, and are under way themselves. */
  #waiting = 0;

  constructor(
    private readonly assembly: Assembly,
    private readonly admission: Admission,
    private readonly owned: OwnedWork,
    private readonly pool: Pick<WorkerPool, 'watch'> | undefined,
  ) {
    const { services } = assembly;
    // Opening the stores again makes them a copy of another node's where they have to be.
    const rejoining = services.cluster?.rejoining;
    if (rejoining === undefined) return;
    rejoining.onBegin = () => void this.#copyUntilDone(rejoining);
    rejoining.onOffer = () => admission.lookAgain();
  }

  /** The node that is copied may go away meanwhile, and without a copy this one has nothing to serve. */
  async #copyUntilDone(rejoining: Rejoining): Promise<void> {
    const { services } = this.assembly;
    for (let waitMs = againMs.first; !this.#isClosing; waitMs = Math.min(2 * waitMs, againMs.max)) {
      const isDone = await services.restart().then(
        () => true,
        () => false,
      );
      // It may have to be done again for what has happened meanwhile.
      if (isDone && !rejoining.isUnderWay) return;
      await services.runtime.sleep(waitMs);
    }
  }

  /** Of several who ask for it at once, all get the same one. */
  async restart(): Promise<void> {
    this.#waiting++;
    try {
      await (this.#underWay ??= this.#reopen().finally(() => (this.#underWay = undefined)));
    } finally {
      this.#waiting--;
    }
  }

  /** Resolves when no restart is under way; none begins by itself from then on. */
  async settled(): Promise<void> {
    this.#isClosing = true;
    await this.#underWay?.catch(() => undefined);
  }

  async #reopen(): Promise<void> {
    const { admission } = this;
    const { services, openRegistry } = this.assembly;
    // Replications are clients too, perhaps of this very server.
    await services.replicator.pause();
    admission.pause();
    try {
      services.registry.endFeeds('server_closing');
      await admission.settled(() => this.#waiting, settleMs);
      await services.batches.flush();
      await services.registry.close();
      services.registry = await openRegistry();
      this.pool?.watch(services.registry);
    } catch (error) {
      services.logger.error({ err: error }, 'opening the data folder again failed');
      throw error;
    } finally {
      admission.resume();
    }
    await this.owned.start();
  }
}
