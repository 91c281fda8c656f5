import { badRequest, RequestError } from '../../base/errors.js';
import {
  designFilter,
  functionFilter,
  selectorFilter,
  type ChangeFilter,
} from '../../changes/change-filter.js';
import type { ChangesView } from '../../changes/changes-view.js';
import { changeRows, eventRows } from '../../changes/change-rows.js';
import type { Database } from '../../node/database.js';
import { ScriptFilter } from '../../design/script-filter.js';
import { fieldsMax } from '../../query/find-request.js';
import { Projection } from '../../selectors/projection.js';
import { compileSelector } from '../../selectors/selector.js';
import type { Exchange } from '../exchange.js';
import { functionRequest } from '../request/function-request.js';
import type { FeedForm } from './feed-form.js';
import type { ChangesRequest, FilterRequest } from './feed-request.js';

/** What a feed shows, and a name that it shares with feeds that show the same. */
export interface SharedView {
  view: ChangesView;
  shareKey: string | undefined;
}

/** The rows of `_changes`. */
export function changesView(
  exchange: Exchange,
  database: Database,
  request: ChangesRequest,
  form: FeedForm,
): SharedView {
  const { allLeaves, includeDocs, conflicts, attachments, encodingInfo, seqInterval, filter } = request;
  const { registry, config } = exchange.services;
  const shown = { allLeaves, includeDocs, conflicts, encodingInfo };
  const show = registry.showFor(database, exchange.user);
  const rows = { ...shown, show, trim: trimOf(filter) };
  const view: ChangesView = {
    ...rows,
    row: changeRows(database, rows),
    framing: form.framing,
    plain: includeDocs || seqInterval > 1 ? undefined : form.plain,
    attachments,
    seqInterval,
    seqFirst: Math.min(request.limit, couchLimit) % seqInterval,
    filter: filterOf(exchange, database, request),
    docIds: filter?.kind === 'doc_ids' ? filter.ids : undefined,
    docIdsLookedUpMax: config.number('chttpd/changes_doc_ids_optimization_threshold'),
  };
  const isLikeOthers = filter === undefined && show === undefined && seqInterval === 1;
  const shared = isLikeOthers && !(attachments && includeDocs);
  return { view, shareKey: shared ? JSON.stringify([form.name, shown]) : undefined };
}

/** CouchDB counts down from the limit, or from this, and gives a sequence to multiples of the interval. */
const couchLimit = 1e15;

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
    show: undefined,
    trim: undefined,
    attachments: false,
    seqInterval: 1,
    seqFirst: 0,
    filter: undefined,
    docIds: undefined,
    docIdsLookedUpMax: 0,
  };
  return { view, shareKey: `databases ${form.name}` };
}

function filterOf(
  exchange: Exchange,
  database: Database,
  { filter, query, body }: ChangesRequest,
): ChangeFilter | undefined {
  const { scripts } = exchange.services;
  switch (filter?.kind) {
    case undefined:
    case 'doc_ids':
      return undefined;
    case 'design':
      return designFilter;
    case 'selector':
      return filterBySelector(filter.selector, exchange);
    case 'view':
      return scriptFilter(ScriptFilter.byView(scripts, database, filter.ddoc, filter.view));
    case 'function': {
      const request = functionRequest(exchange, database, { body, query });
      return scriptFilter(ScriptFilter.byFunction(scripts, database, filter.ddoc, filter.name, request));
    }
  }
}

const scriptFilter = (script: ScriptFilter): ChangeFilter => functionFilter((docs) => script.accepts(docs));

function filterBySelector(selector: unknown, { runtime, services }: Exchange): ChangeFilter {
  if (typeof selector !== 'object' || selector === null || Array.isArray(selector)) {
    throw badRequest('Selector error: expected a JSON object');
  }
  try {
    const timeoutMs = services.config.number('tuffet/query_timeout_ms');
    return selectorFilter(compileSelector(selector), runtime, timeoutMs);
  } catch (error) {
    // Queries have names for what is wrong with a selector; a feed has one.
    throw error instanceof RequestError ? badRequest(error.reason) : error;
  }
}

/** Documents are shown with some of their fields where a selector asks for that. */
function trimOf(filter: FilterRequest | undefined): ChangesView['trim'] {
  if (filter?.kind !== 'selector' || filter.fields === undefined) return undefined;
  if (!Array.isArray(filter.fields)) throw badRequest('Selector error: fields must be JSON array');
  const wrong: unknown = filter.fields.find((field) => typeof field !== 'string');
  if (wrong !== undefined) throw badRequest(`Invalid JSON for field spec: ${JSON.stringify(wrong)}`);
  if (filter.fields.length > fieldsMax)
    throw badRequest(`Selector error: there are more than ${fieldsMax} fields`);
  if (filter.fields.length === 0) return undefined;
  const projection = new Projection(filter.fields);
  return (text) => projection.of(text);
}
