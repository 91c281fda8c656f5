import type { Timer } from '../base/runtime.js';
import type { Collection } from '../shard/collection.js';
import { groupsOf } from './catalogue.js';
import type { DatabaseRegistry } from './database-registry.js';
import type { Database } from './database.js';
import { firstShards } from './divide-group.js';
import { jobId } from './reshard-job.js';

/** How often databases that have changed are looked at. */
const roundMs = 10_000;
/** A division that has failed is tried again after so many seconds. */
const failedSeconds = 3_600;

/** Has groups divided that have outgrown `[reshard] group_size_max`. */
export class AutoDivision {
  /** The databases that have changed since, by their instances. */
  readonly #changed = new Set<number>();
  readonly #timer: Timer;

  constructor(private readonly registry: DatabaseRegistry) {
    this.#timer = registry.runtime.setIdleRepeating(() => void this.#look(), roundMs);
    registry.watch({
      committed: (instance) => this.#bytesMax > 0 && this.#changed.add(instance),
      catalogued: () => {},
      closing: () => this.#timer.cancel(),
    });
  }

  get #bytesMax(): number {
    return this.registry.config.number('reshard/group_size_max');
  }

  async #look(): Promise<void> {
    const bytesMax = this.#bytesMax;
    const instances = [...this.#changed];
    const refused: string[] = [];
    this.#changed.clear();
    for (const instance of instances) {
      const database = this.registry.openDatabases.byInstance(instance);
      const large = database === undefined || bytesMax === 0 ? [] : largeGroups(database, bytesMax);
      if (large.length === 0) continue;
      try {
        refused.push(...(await this.#divide(database!, large)));
      } catch (error) {
        this.registry.logger.error({ err: error, database: database!.name }, 'a group could not be divided');
      }
    }
    if (refused.length > 0)
      this.registry.logger.warn(
        { refused: refused.slice(0, 10) },
        'groups that are too large wait to be divided',
      );
  }

  /** Tells what was refused, which is tried again in the next round. */
  async #divide(database: Database, large: readonly number[]): Promise<string[]> {
    const { reshardJobs } = this.registry;
    const refused: string[] = [];
    for (const job of await reshardJobs.divide(database, large, 2)) {
      if (!('error' in job)) continue;
      if (job.error === 'job_already_exists') await reshardJobs.retryFailed(jobId(job.source), failedSeconds);
      else refused.push(`${job.source}: ${job.error}`);
    }
    if (refused.length > 0) this.#changed.add(database.record.instance);
    return refused;
  }
}

/** The groups that have more bytes of records, and several of the first shards. */
function largeGroups({ record, groups }: Database, bytesMax: number): number[] {
  const several = groupsOf(record).filter((placed) => firstShards(placed, record.q).length > 1);
  const numbers = new Set(several.map(({ group }) => group));
  return groups.collections
    .filter((each) => numbers.has(each.group) && bytesOf(each) > bytesMax)
    .map(({ group }) => group);
}

const bytesOf = ({ states }: Collection): number =>
  states.reduce((sum, { stored_bytes, attachment_bytes }) => sum + stored_bytes - attachment_bytes, 0);
