import type { Bytes } from '../base/bytes.js';
import type { Database } from '../node/database.js';
import type { Show } from '../node/read-gate.js';
import { idFilter, passing, type ChangeFilter } from './change-filter.js';
import { findChanges, lookUpPays } from './doc-id-changes.js';
import { gapOf, mergeChanges, type ChangeEntry, type End, type Span } from './merge-changes.js';

/** Which changes a feed shows. */
export interface Choice {
  filter: ChangeFilter | undefined;
  docIds: ReadonlySet<Bytes> | undefined;
  /** Longer lists of ids are compared with every change, not looked up. */
  docIdsLookedUpMax: number;
  allLeaves: boolean;
  /** Filters see the conflicts of winners. */
  conflicts: boolean;
  /** Hides what the user must not see of documents. */
  show: Show | undefined;
}

/** Changes that are to be shown, and where the shards stand behind them and all that was passed over. */
export interface Chosen {
  entries: ChangeEntry[];
  ends: readonly End[];
}

/** Filters look at so many changes at a time. */
const changesAtOnce = 100;

export async function chooseChanges(database: Database, span: Span, choice: Choice): Promise<Chosen> {
  const { filter, docIds, docIdsLookedUpMax } = choice;
  if (docIds !== undefined && lookUpPays(docIds, docIdsLookedUpMax, span)) {
    return { entries: await findChanges(database, docIds, span), ends: endsOf(span) };
  }
  const { entries, ends } = mergeChanges(database, span, Math.min(changesAtOnce, gapOf(span)));
  const asked = filter ?? (docIds && idFilter(docIds));
  if (asked === undefined) return { entries, ends };
  return { entries: await passing(database, asked, entries, choice), ends };
}

const endsOf = ({ after, upTo, descending }: Span): End[] =>
  (descending ? after : upTo).map((seq, shard) => ({ shard, seq }));

/** Those of the changes that are still there: a document that has changed again meanwhile is shown by its later change. */
export function stillThere(database: Database, entries: readonly ChangeEntry[]): ChangeEntry[] {
  const { collection } = database;
  return entries.filter(({ shard, seq }) => collection.change(shard, seq) !== undefined);
}
