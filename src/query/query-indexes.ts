import { fromBytes } from '../base/bytes.js';
import { MemberPicker } from '../json/raw-fields.js';
import { indexesOf, primaryIndex, type QueryIndex } from './query-index.js';
import { splitContent } from '../shard/content.js';
import { designDocs } from '../shard/walk-docs.js';
import type { Database } from '../node/database.js';

interface OfDesign {
  /** The sequence of its last change, which is never given again; a purged revision may come back with another body. */
  seq: number;
  indexes: readonly QueryIndex[];
}

interface Remembered {
  /** The count of changes of design documents at that time. */
  changes: number;
  /** By id: each is parsed once after each of its changes. */
  designs: ReadonlyMap<string, OfDesign>;
  indexes: readonly QueryIndex[];
}

/** All that is looked at of a design document. */
const indexMembers = new MemberPicker(['language', 'views', 'indexes', 'options']);

/** What was read of design documents. */
const remembered = new WeakMap<Database, Remembered>();

const byName = (a: QueryIndex, b: QueryIndex): number => (a.name < b.name ? -1 : 1);

/** All indexes that queries of a database can choose from, as of now. */
export function queryIndexes(database: Database): readonly QueryIndex[] {
  const { designChanges: changes } = database.collection;
  const before = remembered.get(database);
  if (before?.changes === changes) return before.indexes;
  const now = new Map<string, OfDesign>();
  for (const { id, winner } of designDocs(database.collection)) {
    const known = before?.designs.get(id);
    if (known?.seq === winner.seq) {
      now.set(id, known);
      continue;
    }
    const { body } = splitContent(database.collection.winnerBody(database.shardOf(id), winner));
    const doc = JSON.parse(fromBytes(indexMembers.of(body))) as Record<string, unknown>;
    const indexes = indexesOf(fromBytes(id), doc, database.isPartitioned);
    now.set(id, { seq: winner.seq, indexes });
  }
  const indexes = [primaryIndex, ...[...now.values()].flatMap((design) => [...design.indexes].sort(byName))];
  remembered.set(database, { changes, designs: now, indexes });
  return indexes;
}
