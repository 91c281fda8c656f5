import { asBytes, type Bytes } from '../base/bytes.js';
import type { ViewReader } from '../indexes/view-reader.js';
import type { ViewRequest } from '../indexes/view-request.js';
import type { Database } from '../node/database.js';
import { encodeSequence } from '../node/sequence.js';

/** All before the rows of a view. */
export function viewOpening(
  database: Database,
  reader: ViewReader | undefined,
  request: ViewRequest,
  rows: { offset: () => number; hasRows: () => boolean },
): Bytes {
  const { shape, updateSeq, sorted, partition } = request;
  const seq = updateSeq ? `"update_seq":${updateSeqText(database, reader)},` : '';
  if (shape !== 'rows') return asBytes(`{${seq}"rows":[`);
  // As in CouchDB, which does not wait for the counts of several shards when a row is there.
  const isOfOneShard = partition !== undefined || database.collection.shards.size === 1;
  if (!sorted && !isOfOneShard && rows.hasRows()) return asBytes('{"rows":[');
  return asBytes(`{"total_rows":${reader?.total ?? 0},"offset":${rows.offset()},${seq}"rows":[`);
}

function updateSeqText(database: Database, reader: ViewReader | undefined): Bytes {
  const positions = reader?.positions ?? database.collection.states.map(() => ({ seq: 0 }));
  return asBytes(`"${encodeSequence(database, positions)}"`);
}
