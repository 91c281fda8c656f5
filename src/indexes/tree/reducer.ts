import type { Bytes } from '../../base/bytes.js';
import type { Row } from './row.js';

/**
 * A reduction that a tree keeps up to date in its nodes. Values are JSON texts. All groups of one level of the tree come
 * in one call, since a call may go to another thread; a result that is there at once is not awaited.
 */
export interface Reducer {
  /** A value for each group of rows. */
  reduce(groups: readonly (readonly Row[])[]): readonly Bytes[] | Promise<readonly Bytes[]>;
  /** A value for each group of values. */
  rereduce(groups: readonly (readonly Bytes[])[]): readonly Bytes[] | Promise<readonly Bytes[]>;
}
