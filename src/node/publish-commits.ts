import type { Logger } from '../base/logger.js';
import type { Touched } from '../shard/write-view.js';
import type { Activity } from './activity.js';
import type { Catalogue } from './catalogue.js';
import type { Database } from './database.js';
import type { DbEvents } from './db-events.js';
import type { OpenDatabases } from './open-databases.js';
import { isSwapped, openGroups } from './open-groups.js';
import type { Volumes } from './volumes.js';
import type { Watcher } from './watcher.js';

/** Who is told of what was committed. */
export interface CommitReaders {
  readonly logger: Logger;
  readonly activity: Activity;
  readonly openDatabases: OpenDatabases;
  readonly watchers: readonly Watcher[];
  readonly events: DbEvents;
  readonly catalogue: Pick<Catalogue, 'home' | 'get'>;
  readonly volumes: Volumes;
  nameOf(instance: number): string | undefined;
}

/** Tells open databases, and all who watch, what a batch of commands has changed. */
export function publishCommits(readers: CommitReaders, touched: readonly Touched[]): void {
  const { openDatabases, events } = readers;
  for (const each of touched) {
    readers.activity.committed(each);
    const instance = openDatabases.instanceOf(each.instance);
    const database = openDatabases.byInstance(instance);
    const name = readers.nameOf(instance);
    try {
      for (const watcher of readers.watchers) watcher.committed(instance);
      const changed = database?.groups.publish(each) ?? each.moves.length > 0;
      if (changed || each.isSplit) database?.followers?.wake();
      database?.committed();
      if (changed && name !== undefined)
        events.note('updated', name, readers.catalogue.home(each.instance)?.stream);
    } catch (error) {
      // The write is done; only the state in memory is uncertain, and is read again.
      readers.logger.error({ err: error, database: database?.name }, 'publishing a commit to readers failed');
      database?.followers?.end('server_closing');
      if (database !== undefined) renewGroups(readers, database);
    }
  }
}

/** Where this fails too, the next request opens the database again. */
function renewGroups({ volumes, openDatabases }: CommitReaders, database: Database): void {
  try {
    database.replaceGroups(openGroups(volumes, database.record));
  } catch {
    openDatabases.remove(database);
  }
}

/** Tells them that the catalogue has something new on a name. */
export function publishSettings(readers: CommitReaders, name: string): void {
  const { openDatabases } = readers;
  for (const watcher of readers.watchers) watcher.catalogued(name);
  const database = openDatabases.byName(name);
  if (database === undefined) return;
  const record = readers.catalogue.get(name);
  if (record !== undefined && record.instance === database.record.instance) {
    database.record = record;
    if (database.nextGroups !== undefined && isSwapped(database)) regroup(readers, database);
    database.followers?.recheck();
  } else {
    database.markGone();
    openDatabases.remove(database);
  }
}

/** The shards of a group have moved to others: all reads use those from now on. The other groups stay as they are. */
function regroup({ volumes, openDatabases }: CommitReaders, database: Database): void {
  const open = [...database.groups.collections, ...database.nextGroups!];
  database.replaceGroups(openGroups(volumes, database.record, open));
  openDatabases.regroup(database.record);
  database.followers?.wake();
  database.committed();
}
