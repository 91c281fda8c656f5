import type { Logger } from '../base/logger.js';
import { untilConfirmed } from '../log/confirmation.js';
import type { StreamReplica } from '../log/stream-replica.js';
import { encodeCatalogueCommand } from '../node/catalogue-codec.js';
import { memberPrefix } from '../node/shared-values.js';
import type { Members } from './members.js';
import { removedProblem } from './problem.js';

/** Whether operators have removed this node from the cluster, as they may while it is paused or cut off. */
export class Removal {
  #wasRemoved = false;

  constructor(
    private readonly node: string,
    private readonly members: Pick<Members, 'removed'>,
    private readonly logger: Logger,
  ) {}

  get isRemoved(): boolean {
    return this.members.removed().has(this.node);
  }

  /** Logs it, once. */
  look(): void {
    if (!this.#wasRemoved && this.isRemoved) this.logger.error({}, removedProblem);
    this.#wasRemoved = this.isRemoved;
  }

  /**
   * From now on the others count this node, also if it was removed. Waits for the log as long as it takes: its servers may be
   * electing a leader, as they do when everything was started at once.
   */
  async undo(catalogue: StreamReplica): Promise<void> {
    const name = memberPrefix + this.node;
    try {
      await untilConfirmed(async () => {
        await catalogue.fresh();
        if (this.isRemoved)
          await catalogue.send(encodeCatalogueCommand({ type: 'share', name, value: null }));
      });
    } catch (error) {
      if (catalogue.lost === undefined) throw error;
    }
  }
}
