import { asBytes, noBytes, type Bytes } from '../base/bytes.js';
import { docText, quoteId } from '../shard/doc-text.js';
import type { LocalRecord } from '../shard/local-record.js';

/** The row of a local document in a listing. */
export function localRow(idOrKey: Bytes, { rev, longId, body }: LocalRecord, includeDocs: boolean): Bytes {
  const [id, quoted] = [longId ?? idOrKey, quoteId(longId ?? idOrKey)];
  const row = `{"id":${quoted},"key":${quoted},"value":{"rev":"0-${rev}"}`;
  const doc = includeDocs ? `,"doc":${docText(id, { pos: 0, hash: String(rev) }, body, noBytes)}` : '';
  return asBytes(`${row}${doc}}`);
}
