import { toBytes } from '../base/bytes.js';
import type { UserContext } from '../base/user-context.js';
import { viewLanguages, type DesignViews, type ViewDefinition } from '../views/definition.js';
import type { ViewReader } from '../views/view-reader.js';
import type { OnUpdate } from '../views/views.js';
import type { ViewRequest } from '../views/view-request.js';
import type { Cluster } from './cluster.js';
import type { Database } from './database.js';
import { unknownLanguage } from './design-functions.js';
import { designPrefix } from './document-input.js';
import type { ViewSource } from './query-view.js';
import { checkVisible } from './read-gates.js';

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
  cluster: Cluster,
  named: NamedView,
  { update, partition }: Pick<ViewRequest, 'update' | 'partition'>,
  user: UserContext,
): ViewSource | Promise<ViewSource> {
  const { database, ddoc, design, view } = named;
  const show = cluster.showFor(database, user);
  // Rows hold what the view has made of documents that this user may not read.
  checkVisible(show, designPrefix + toBytes(ddoc));
  if (!viewLanguages.has(design.language)) throw unknownLanguage(design.language);
  const indexed = cluster.indexed(database);
  const onUpdate = taskOf(cluster, named);
  const sourceOf = (reader: ViewReader | undefined): ViewSource => ({
    database,
    reader: reader?.inPartition(partition),
    again: () => cluster.views.reader(indexed, view)?.inPartition(partition),
    reduce: view.reduce === undefined ? undefined : cluster.views.reduce(indexed, view.reduce),
    show,
  });
  if (update !== 'true') {
    const reader = cluster.views.reader(indexed, view);
    if (update === 'lazy') cluster.views.updateLater(indexed, design, onUpdate);
    return sourceOf(reader);
  }
  const reader = cluster.views.freshReader(indexed, design, view, onUpdate);
  return reader instanceof Promise ? reader.then(sourceOf) : sourceOf(reader);
}

/** Shows the filling of indexes among the active tasks. */
export function taskOf(cluster: Cluster, { database, ddoc }: Pick<NamedView, 'database' | 'ddoc'>): OnUpdate {
  return (total) => {
    const task = cluster.tasks.begin('indexer', database.name, cluster.nodeName, total, {
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
