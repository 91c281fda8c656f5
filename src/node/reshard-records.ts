import type { Catalogue } from './catalogue.js';
import type { Membership } from './membership.js';
import type { ReshardingState, ReshardJob } from './reshard-job.js';

/** Keys of what the nodes of a cluster share. */
const jobsPrefix = 'reshard/jobs/';
const stateKey = 'reshard/state';

/** Where jobs are noted: in the catalogue of a server, or in what all nodes of a cluster share, so that another one can go on with them. */
export class ReshardRecords {
  constructor(
    private readonly catalogue: Pick<Catalogue, 'resharding' | 'reshardJobs' | 'journal'>,
    private readonly membership: Pick<Membership, 'cluster' | 'shared' | 'share'>,
  ) {}

  get isShared(): boolean {
    return this.membership.cluster !== undefined;
  }

  get resharding(): ReshardingState {
    if (!this.isShared) return this.catalogue.resharding;
    const stored = this.membership.shared(stateKey).get('') ?? null;
    return stored === null ? { state: 'running', reason: null } : (JSON.parse(stored) as ReshardingState);
  }

  jobs(): ReshardJob[] {
    if (!this.isShared) return this.catalogue.reshardJobs();
    const stored = [...this.membership.shared(jobsPrefix).values()];
    return stored.flatMap((job) => (job === null ? [] : [JSON.parse(job) as ReshardJob]));
  }

  async setResharding(state: ReshardingState): Promise<void> {
    if (this.isShared) await this.membership.share(stateKey, JSON.stringify(state));
    else await this.catalogue.journal.record({ type: 'set_resharding', state });
  }

  async set(job: ReshardJob): Promise<void> {
    if (this.isShared) await this.membership.share(jobsPrefix + job.id, JSON.stringify(job));
    else await this.catalogue.journal.record({ type: 'set_job', job });
  }

  async remove(id: string): Promise<void> {
    if (this.isShared) await this.membership.share(jobsPrefix + id, null);
    else await this.catalogue.journal.record({ type: 'remove_job', id });
  }
}
