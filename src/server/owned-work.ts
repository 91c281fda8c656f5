import type { Logger } from '../base/logger.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Services } from '../http/services.js';

/** Runs what is done once: replications and resharding jobs. On a server of its own always, on one node of a cluster. */
export class OwnedWork {
  #isRunning = false;
  #work: Promise<void> = Promise.resolve();

  constructor(
    /** Whose registry may be another one after a restart. */
    private readonly services: Pick<Services, 'replicator' | 'registry'>,
    private readonly cluster: Cluster | undefined,
    private readonly logger: Logger,
  ) {
    if (cluster !== undefined) cluster.onOwnerChange = () => void this.#followOwner();
  }

  /** At a start of the server, or after its stores were opened again. */
  async start(): Promise<void> {
    if (this.cluster === undefined) return await this.services.replicator.start();
    this.#isRunning = false;
    await this.#followOwner();
  }

  async #followOwner(): Promise<void> {
    this.#work = this.#work.then(async () => {
      const { isOwner } = this.cluster!;
      if (isOwner === this.#isRunning) return;
      this.#isRunning = isOwner;
      const { replicator, registry } = this.services;
      if (isOwner) registry.reshardJobs.start();
      else await registry.reshardJobs.pause();
      await (isOwner ? replicator.start() : replicator.leave());
    });
    this.#work = this.#work.catch((error: unknown) =>
      this.logger.error({ err: error }, 'starting or ending replications and resharding failed'),
    );
    await this.#work;
  }
}
