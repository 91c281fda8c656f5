import { RequestError } from '../base/errors.js';
import { designOf } from '../design/design-docs.js';
import type { Database } from '../node/database.js';
import { designPrefix } from '../shard/doc-id.js';
import type { NamedView } from '../views/view-source.js';
import type { QueryIndex } from './query-index.js';

/**
 * The view that is the index of a plan. Undefined where it is gone, or has other fields under the same name: its design document
 * may change after a query was planned, and what is remembered of all indexes may be older than what is read of one.
 */
export function viewOfIndex(
  database: Database,
  { ddoc, name, columns, partialFilter }: QueryIndex,
): NamedView | undefined {
  const named = ddoc!.slice(designPrefix.length);
  try {
    const design = designOf(database, named);
    const view = design.views.get(name);
    if (view?.map.kind !== 'fields') return undefined;
    const { map } = view;
    const isSame =
      JSON.stringify([map.fields, map.partialFilter]) === JSON.stringify([columns, partialFilter]);
    return isSame ? { database, ddoc: named, design, view } : undefined;
  } catch (error) {
    if (error instanceof RequestError && error.error === 'not_found') return undefined;
    throw error;
  }
}
