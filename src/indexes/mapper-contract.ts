import type { Bytes } from '../base/bytes.js';
import type { Emitted } from './doc-rows.js';

/** What each of several views makes of documents. */
export interface Mapper {
  /** Whether that is done elsewhere, so that it pays to hand out documents ahead. */
  readonly isElsewhere: boolean;
  map(docs: readonly Bytes[]): Promise<Mapped>;
}

export interface Mapped {
  /** For each document, for each view, its rows. Best asked for only when they are needed: until then they take little room. */
  rows(): Promise<readonly (readonly (readonly Emitted[])[])[]>;
  /** Documents that have no rows of a view, named by its place, because its function needed too much memory for them. */
  readonly exceeded?: readonly { map: number; id: string }[];
}
