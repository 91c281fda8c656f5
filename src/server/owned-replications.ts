import type { Logger } from '../base/logger.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Services } from '../http/services.js';

/** Runs the replications of documents: always on a server of its own, on one node of a cluster. */
export class OwnedReplications {
  #isRunning = false;
  #work: Promise<void> = Promise.resolve();

  constructor(
    private readonly replicator: Services['replicator'],
    private readonly cluster: Cluster | undefined,
    private readonly logger: Logger,
  ) {
    if (cluster !== undefined) cluster.onOwnerChange = () => void this.#followOwner();
  }

  /** At a start of the server, or after replications were paused. */
  async start(): Promise<void> {
    if (this.cluster === undefined) return await this.replicator.start();
    this.#isRunning = false;
    await this.#followOwner();
  }

  async #followOwner(): Promise<void> {
    this.#work = this.#work.then(async () => {
      const { isOwner } = this.cluster!;
      if (isOwner === this.#isRunning) return;
      this.#isRunning = isOwner;
      await (isOwner ? this.replicator.start() : this.replicator.pause());
    });
    this.#work = this.#work.catch((error: unknown) =>
      this.logger.error({ err: error }, 'starting or ending replications failed'),
    );
    await this.#work;
  }
}
