import { asBytes, toBytes } from '../base/bytes.js';
import { Unavailable } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import { viewLanguages, type DesignViews, type ViewDefinition } from '../indexes/definition.js';
import type { ViewReader } from '../indexes/view-reader.js';
import type { OnUpdate } from '../indexes/update-tasks.js';
import type { ViewRequest } from '../indexes/view-request.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { unknownLanguage } from '../design/design-functions.js';
import { designPrefix } from '../shard/doc-id.js';
import type { ViewSource } from './query-view.js';
import { checkVisible } from '../node/read-gate.js';

/** A view that is to be queried. */
export interface NamedView {
  database: Database;
  /** The design document's name. */
  ddoc: string;
  design: DesignViews;
  view: ViewDefinition;
}

/**
 * What a query reads from: the index, brought up to date as far as the query wants it. Throws if the user may
 * not see the design document.
 */
export function viewSource(
  registry: DatabaseRegistry,
  named: NamedView,
  { update, partition }: Pick<ViewRequest, 'update' | 'partition'>,
  user: UserContext,
): ViewSource | Promise<ViewSource> {
  const { database, ddoc, design, view } = named;
  const show = registry.showFor(database, user);
  // Rows hold what the view has made of documents that this user may not read.
  checkVisible(show, asBytes(designPrefix + toBytes(ddoc)));
  if (!viewLanguages.has(design.language)) throw unknownLanguage(design.language);
  const indexed = registry.indexed(database);
  const onUpdate = taskOf(registry, named);
  // When groups have been divided, those that were there are left for a while.
  const readerNow = (): ViewReader | undefined =>
    indexed.reader(view) ?? registry.indexed(database).reader(view);
  const sourceOf = (reader: ViewReader | undefined): ViewSource => ({
    database,
    reader: reader?.inPartition(partition),
    again: () => {
      const current = readerNow();
      // An answer that has begun must not end as if it were complete.
      if (current === undefined && reader !== undefined)
        throw new Unavailable('The index was removed while it was read; try again.');
      return current?.inPartition(partition);
    },
    reduce: view.reduce === undefined ? undefined : indexed.reduce(view.reduce),
    show,
  });
  if (update !== 'true') {
    const reader = indexed.reader(view);
    if (update === 'lazy') indexed.updateLater(design, onUpdate);
    return sourceOf(reader);
  }
  const { groups } = database;
  const reader = indexed.freshReader(design, view, onUpdate);
  if (!(reader instanceof Promise)) return sourceOf(reader);
  return reader.then(sourceOf, (error: unknown) => {
    // The groups that were waited for may have been divided meanwhile.
    if (database.groups === groups) throw error;
    return viewSource(registry, named, { update, partition }, user);
  });
}

/** Shows the filling of indexes among the active tasks. */
export function taskOf(
  registry: DatabaseRegistry,
  { database, ddoc }: Pick<NamedView, 'database' | 'ddoc'>,
): OnUpdate {
  return (total) =>
    registry.tasks.begin('indexer', database.name, registry.nodeName, total, {
      design_document: `_design/${ddoc}`,
    });
}
