import type { Bytes } from '../base/bytes.js';
import type { Emitted } from './doc-rows.js';

/** What each of several views makes of documents: for each document, for each view, its rows. */
export interface Mapper {
  map(docs: readonly Bytes[]): Promise<readonly (readonly (readonly Emitted[])[])[]>;
}
