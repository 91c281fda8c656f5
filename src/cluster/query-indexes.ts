import { fromBytes } from '../base/bytes.js';
import { indexesOf, primaryIndex, type QueryIndex } from '../query/query-index.js';
import { splitContent } from '../shard/content.js';
import { decodeWinner } from '../shard/doc-record.js';
import { prefixEnd } from '../storage/store.js';
import type { Database } from './database.js';
import { designPrefix } from './document-input.js';

interface Remembered {
  rev: string;
  indexes: readonly QueryIndex[];
}

/** What was read of design documents, by id: each is parsed once for each of its revisions. */
const remembered = new WeakMap<Database, Map<string, Remembered>>();

/** All indexes that queries of a database can choose from, as of now. */
export function queryIndexes(database: Database): QueryIndex[] {
  const { store, keys } = database.collection;
  const before = remembered.get(database);
  const now = new Map<string, Remembered>();
  const start = keys.livePrefix + designPrefix;
  for (const { key, value } of store.entries({ start, end: prefixEnd(start) })) {
    const winner = decodeWinner(value);
    const id = winner.longId ?? key.slice(keys.livePrefix.length);
    const rev = `${winner.pos}-${winner.hash}`;
    const known = before?.get(id);
    if (known?.rev === rev) {
      now.set(id, known);
      continue;
    }
    const { body } = splitContent(database.collection.winnerBody(database.shardOf(id), winner));
    const doc = JSON.parse(fromBytes(body)) as Record<string, unknown>;
    now.set(id, { rev, indexes: indexesOf(fromBytes(id), doc, database.isPartitioned) });
  }
  remembered.set(database, now);
  return [primaryIndex, ...[...now.values()].flatMap(({ indexes }) => indexes)];
}
