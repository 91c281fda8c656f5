import type { Bound, Row } from './row.js';
import type { TreeReader } from './tree-reader.js';

/**
 * Rows in descending order of key and id. Rows of the same key and document keep their ascending order, as in CouchDB, also
 * where `skip` or `limit` divides them.
 */
export function* rowsBackwards(
  tree: TreeReader,
  low: Bound | undefined,
  high: Bound | undefined,
  { skip, limit }: { skip: number; limit: number },
): Generator<Row> {
  let left = limit;
  let isFirst = skip > 0;
  let sameRows = 0;
  for (const row of tree.rows(low, high, { descending: true, skip, limit })) {
    if (sameRows > 0) {
      sameRows--;
      continue;
    }
    if (row.n === 0 && !isFirst) {
      yield row;
      left--;
      continue;
    }
    isFirst = false;
    const from = { key: row.key, id: row.id, after: false };
    const to = { ...from, after: true };
    const skipped = tree.count(from, to) - 1 - row.n;
    yield* tree.rows(from, to, { skip: skipped, limit: left });
    left -= row.n + 1;
    sameRows = row.n;
  }
}
