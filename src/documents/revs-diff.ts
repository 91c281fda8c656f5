import type { Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { sortInSlices } from '../base/sort-in-slices.js';
import { compareRevs, type Rev } from '../revisions/rev.js';
import { find, missing, possibleAncestors, type RevTree } from '../revisions/tree.js';
import type { Database } from '../node/database.js';
import type { Show } from '../node/read-gate.js';

export interface RevsDiff {
  missing: readonly Rev[];
  possibleAncestors: readonly Rev[];
}

const none: readonly Rev[] = [];

/**
 * Which of the named revisions of a document are not here, and which leaves they may descend from. Refuses an id that no
 * document of the database can have, so that replicators get the error before they send anything. A document that `show`
 * hides is as if it were not there.
 */
export function revsDiff(database: Database, id: Bytes, revs: readonly Rev[], show?: Show): RevsDiff {
  const tree = visibleTree(database, id, show);
  if (tree === undefined) return { missing: revs, possibleAncestors: none };
  return diffOf(tree, missing(tree, revs).sort(compareRevs));
}

/** The same for thousands of revisions of one document. */
export async function revsDiffInSlices(
  database: Database,
  id: Bytes,
  revs: readonly Rev[],
  show?: Show,
): Promise<RevsDiff> {
  const tree = visibleTree(database, id, show);
  if (tree === undefined) return { missing: revs, possibleAncestors: none };
  const { runtime } = database;
  const found = await runtime.slice().map(revs, (rev) => find(tree, rev) !== undefined);
  const absent = revs.filter((_, at) => !found[at]);
  return diffOf(tree, await sortInSlices(absent, compareRevs, runtime));
}

const diffOf = (tree: RevTree, absent: readonly Rev[]): RevsDiff => ({
  missing: absent,
  possibleAncestors: absent.length === 0 ? none : possibleAncestors(tree, absent),
});

/** Undefined where no such document is to be seen. */
function visibleTree(database: Database, id: Bytes, show: Show | undefined): RevTree | undefined {
  database.checkPlace(id);
  if (show !== undefined && isHidden(database, id, show)) return undefined;
  // Of a document that is deleted at this very moment, revisions may be asked for in vain; they do no harm.
  return database.collection.treeOnce(id);
}

function isHidden(database: Database, id: Bytes, show: Show): boolean {
  const found = database.collection.winner(id);
  if (found === undefined) return false;
  return show(id, database.collection.winnerBody(database.shardOf(id), found)) instanceof RequestError;
}
