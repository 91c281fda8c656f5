import type { DatabaseRecord } from '../node/catalogue.js';
import { Database, type Groups } from '../node/database.js';
import type { LocalReader } from '../shard/group-reader.js';
import type { Volume } from '../shard/volume.js';
import { NotHere } from './not-here.js';

/** A database that this process reads, and another writes. */
export class ReadDatabase extends Database {
  constructor(
    name: string,
    record: DatabaseRecord,
    groups: Groups,
    private readonly volumes: readonly Volume[],
  ) {
    super(name, record, groups);
  }

  /** To be called at the beginning of each request: makes visible what has been committed up to now. */
  refresh(): void {
    for (const { store } of this.volumes) store.refresh();
    super.groups.reread();
  }

  /** An answer that takes long must not end as if it were complete when records are being removed. */
  override get groups(): Groups {
    if (this.isGone) throw new NotHere();
    return super.groups;
  }

  override get collection(): LocalReader {
    return this.groups;
  }

  /** Commits are not told of here. */
  override nextCommit(): Promise<void> {
    return Promise.reject(new NotHere());
  }

  hasGroup(group: number): boolean {
    return super.groups.collections.some((each) => each.group === group);
  }
}
