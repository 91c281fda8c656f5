import { keyPrefix } from '../../json/order-key.js';
import type { Bound, Row } from './row.js';

/**
 * Where the group of a row ends, for `TreeReader.groups`: rows belong together whose keys are arrays that share their
 * first `level` elements; all other keys make groups of their own. `Infinity` groups by whole keys.
 */
export function groupEnd(level: number, descending: boolean): (row: Row) => Bound {
  return ({ key }) => {
    const prefix = level === Infinity ? undefined : keyPrefix(key, level);
    if (prefix === undefined) return { key, after: !descending };
    return { key: descending ? prefix : `${prefix}\xff`, after: !descending };
  };
}
