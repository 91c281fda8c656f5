import { toBytes } from '../base/bytes.js';
import type { UserContext } from '../base/user-context.js';
import { viewLanguages, type DesignViews, type ViewDefinition } from '../indexes/definition.js';
import type { ViewReader } from '../indexes/view-reader.js';
import type { OnUpdate } from '../indexes/views.js';
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
 * What a query reads from: the index, brought up to date as far as the query wants it. Refuses who may not see the
 * design document.
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
  checkVisible(show, designPrefix + toBytes(ddoc));
  if (!viewLanguages.has(design.language)) throw unknownLanguage(design.language);
  const indexed = registry.indexed(database);
  const onUpdate = taskOf(registry, named);
  const sourceOf = (reader: ViewReader | undefined): ViewSource => ({
    database,
    reader: reader?.inPartition(partition),
    again: () => registry.views.reader(indexed, view)?.inPartition(partition),
    reduce: view.reduce === undefined ? undefined : registry.views.reduce(indexed, view.reduce),
    show,
  });
  if (update !== 'true') {
    const reader = registry.views.reader(indexed, view);
    if (update === 'lazy') registry.views.updateLater(indexed, design, onUpdate);
    return sourceOf(reader);
  }
  const reader = registry.views.freshReader(indexed, design, view, onUpdate);
  return reader instanceof Promise ? reader.then(sourceOf) : sourceOf(reader);
}

/** Shows the filling of indexes among the active tasks. */
export function taskOf(
  registry: DatabaseRegistry,
  { database, ddoc }: Pick<NamedView, 'database' | 'ddoc'>,
): OnUpdate {
  return (total) => {
    const task = registry.tasks.begin('indexer', database.name, registry.nodeName, total, {
      design_document: `_design/${ddoc}`,
    });
    let shown = 0;
    return {
      progress: (done) => {
        task.advance(done - shown);
        shown = done;
      },
      end: () => task.end(),
    };
  };
}
