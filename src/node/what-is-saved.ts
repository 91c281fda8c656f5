import { isDeepStrictEqual } from 'node:util';
import type { Bytes } from '../base/bytes.js';
import { newRevHash } from '../revisions/rev-hash.js';
import { decodeWinner } from '../shard/doc-record.js';
import { DatabaseKeys } from '../shard/keys.js';
import { prefixEnd, type Store } from '../storage/store.js';
import { groupsOf, type Catalogue, type DatabaseRecord } from './catalogue.js';
import { eventsDatabase, isEvent } from './db-events.js';
import { adminsOnly, authDesign } from './new-system-databases.js';

type Volume = Pick<Store, 'get' | 'keys'>;

/**
 * The name of a database that was created, or in which something was saved or set; undefined where a server has only what every
 * server begins with: its own databases, with what it has written there itself.
 */
export function whatIsSaved(
  catalogue: Pick<Catalogue, 'databases'>,
  volumes: readonly Volume[],
): string | undefined {
  for (const [name, record] of catalogue.databases()) {
    if (!name.startsWith('_') || isChanged(record)) return name;
    for (const { group, slot } of groupsOf(record))
      if (hasSaved(name, new DatabaseKeys(group), volumes[slot]!)) return name;
  }
  return undefined;
}

/** Whether anything is set otherwise than for a new database of the server's own. */
function isChanged(record: DatabaseRecord): boolean {
  const { security, revs_limit, purged_infos_limit, auto_purge, expiry } = record;
  if (security !== undefined && !isDeepStrictEqual(security, adminsOnly)) return true;
  if (revs_limit !== undefined || purged_infos_limit !== undefined) return true;
  return [auto_purge, expiry].some((settings) => Object.keys(settings ?? {}).length > 0);
}

/** Whether there are documents, local ones too, that the server has not written itself. */
function hasSaved(name: string, { livePrefix, localPrefix }: DatabaseKeys, volume: Volume): boolean {
  for (const _ of volume.keys({ start: localPrefix, end: prefixEnd(localPrefix), limit: 1 })) return true;
  for (const key of volume.keys({ start: livePrefix, end: prefixEnd(livePrefix) })) {
    const id = key.slice(livePrefix.length);
    const isOwn = name === eventsDatabase ? isEvent(id) : id === authDesign.id && isAsWritten(volume, key);
    if (!isOwn) return true;
  }
  return false;
}

/** Whether a document is the design document of users as the server has made it: its revision tells. */
function isAsWritten(volume: Volume, key: Bytes): boolean {
  const { pos, hash, conflicted } = decodeWinner(volume.get(key)!);
  return pos === 1 && !conflicted && hash === newRevHash({ deleted: false, body: authDesign.body });
}
