import type { Timer } from '../base/runtime.js';
import type { Collection } from '../shard/collection.js';
import { groupsOf } from './catalogue.js';
import type { DatabaseRegistry } from './database-registry.js';
import type { Database } from './database.js';
import { firstShards } from './divide-group.js';

/** How often databases that have changed are looked at. */
const roundMs = 10_000;

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
    this.#changed.clear();
    for (const instance of instances) {
      const database = this.registry.openDatabases.byInstance(instance);
      const large = database === undefined || bytesMax === 0 ? [] : largeGroups(database, bytesMax);
      if (large.length === 0) continue;
      try {
        await this.registry.reshardJobs.divide(database!, large, 2);
      } catch (error) {
        this.registry.logger.error({ err: error, database: database!.name }, 'a group could not be divided');
      }
    }
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
