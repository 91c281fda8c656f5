import { asBytes, type Bytes } from '../base/bytes.js';
import { prefixEnd } from '../storage/store.js';
import { designPrefix } from './doc-id.js';
import { decodeWinner, type WinnerView } from './doc-record.js';
import type { LocalReader } from './group-reader.js';
import type { KeyRange } from './key-range.js';

/** The keys of design documents. */
export const designIds: KeyRange = Object.freeze({ start: designPrefix, end: prefixEnd(designPrefix) });

const docsAtOnce = 100;
const bytesAtOnce = 1024 * 1024;

/** All design documents that are not deleted, in the order of their ids. */
export function* designDocs(reader: LocalReader): Generator<{ id: Bytes; winner: WinnerView }> {
  const { end } = designIds;
  for (let { start } = designIds; ;) {
    const found = reader.docs('live', { start, end, limit: docsAtOnce, bytesMax: bytesAtOnce });
    for (const { key, value } of found) {
      const winner = decodeWinner(value);
      yield { id: winner.longId ?? key, winner };
    }
    if (found.length === 0) return;
    start = asBytes(`${found.at(-1)!.key}\0`);
  }
}
