import { Refusal } from '../../base/errors.js';
import { designFilter, type ChangeFilter } from '../../cluster/changes/change-filter.js';
import type { ChangesView } from '../../cluster/changes/change-reader.js';
import { changeRows, eventRows } from '../../cluster/changes/change-rows.js';
import type { Database } from '../../cluster/database.js';
import type { Config } from '../../config/config.js';
import type { FeedForm } from './feed-form.js';
import type { ChangesRequest, FilterRequest } from './feed-request.js';

/** What a feed shows, and a name that it shares with feeds that show the same. */
export interface SharedView {
  view: ChangesView;
  shareKey: string | undefined;
}

/** The rows of `_changes`. */
export function changesView(
  database: Database,
  request: ChangesRequest,
  form: FeedForm,
  config: Config,
): SharedView {
  const { allLeaves, includeDocs, conflicts, attachments, encodingInfo, seqInterval, filter } = request;
  const rows = { allLeaves, includeDocs, conflicts, encodingInfo };
  const view: ChangesView = {
    ...rows,
    row: changeRows(database, rows),
    framing: form.framing,
    plain: includeDocs || seqInterval > 1 ? undefined : form.plain,
    attachments,
    seqInterval,
    filter: filter && filterOf(filter),
    docIds: filter?.kind === 'doc_ids' ? filter.ids : undefined,
    docIdsLookedUpMax: config.number('chttpd/changes_doc_ids_optimization_threshold'),
  };
  const isPlain = filter === undefined && seqInterval === 1 && !(attachments && includeDocs);
  return { view, shareKey: isPlain ? JSON.stringify([form.name, rows]) : undefined };
}

/** The rows of `_db_updates`. */
export function eventsView(form: FeedForm): SharedView {
  const view: ChangesView = {
    row: eventRows,
    framing: form.framing,
    plain: undefined,
    allLeaves: false,
    includeDocs: false,
    conflicts: false,
    encodingInfo: false,
    attachments: false,
    seqInterval: 1,
    filter: undefined,
    docIds: undefined,
    docIdsLookedUpMax: 0,
  };
  return { view, shareKey: `databases ${form.name}` };
}

function filterOf(filter: FilterRequest): ChangeFilter | undefined {
  switch (filter.kind) {
    case 'doc_ids':
      return undefined;
    case 'design':
      return designFilter;
    case 'selector':
      throw new Refusal('not_implemented', 'Filtering by a selector is not supported yet.');
    case 'view':
    case 'function':
      throw new Refusal('not_implemented', 'Design functions are not supported yet.');
  }
}
