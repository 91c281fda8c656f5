import { toBytes, type Bytes } from '../../base/bytes.js';
import { badRequest, RequestError } from '../../base/errors.js';
import type { Runtime } from '../../base/runtime.js';
import type { UserContext } from '../../base/user-context.js';
import {
  designFilter,
  functionFilter,
  selectorFilter,
  type ChangeFilter,
} from '../../changes/change-filter.js';
import { ChangeHub } from '../../changes/change-hub.js';
import { chooseChanges, type Choice, type Chosen } from '../../changes/choose-changes.js';
import { gapOf, mergeChanges, type ChangeEntry } from '../../changes/merge-changes.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { Database } from '../../node/database.js';
import { databaseInfo } from '../../node/database-info.js';
import { ScriptFilter } from '../../design/script-filter.js';
import { awaitSince, currentPositions, followPositions, SequenceWriter } from '../../node/sequence.js';
import { functionSecurity, functionUser } from '../../design/validate-docs.js';
import type { ScriptHost } from '../../script/script-host.js';
import { compileSelector } from '../../selectors/selector.js';
import { decodeChange } from '../../shard/change-record.js';
import { filterParts, paramText } from '../filter-params.js';
import type { Change, ChangesPage, ChangesRequest, Selection } from '../peer.js';
import { seqText } from '../seq.js';

/** Whose changes are read, by whom, and who runs filter functions. */
export interface Place {
  registry: DatabaseRegistry;
  database: Database;
  scripts: ScriptHost;
  user: UserContext;
}

/** Filters that let little through must not keep a page waiting for long: so many rounds make one at most. */
const roundsMax = 100;

/** The changes of a database of this server, page by page, out of its table. */
export async function* readLocalChanges(
  place: Place,
  request: ChangesRequest,
  signal: AbortSignal,
): AsyncGenerator<ChangesPage> {
  const { registry, database } = place;
  const choice = await choiceOf(place, request);
  let after = await awaitSince(database, seqText(request.since));
  const follow = (): void => void (after = [...followPositions(database, after)]);
  const chosen = (): Chosen | Promise<Chosen> => {
    const span = { after, upTo: currentPositions(database), descending: false };
    if (choice === undefined) return mergeChanges(database, span, request.pageSize);
    return chooseChanges(database, span, choice);
  };
  const slice = database.runtime.slice();
  for (;;) {
    const changes: Change[] = [];
    for (let rounds = 0; rounds < roundsMax && changes.length < request.pageSize; rounds++) {
      follow();
      if (gapOf({ after, upTo: currentPositions(database) }) === 0) break;
      const { shards } = database.collection;
      const { entries, ends } = await chosen();
      // A shard was split while a filter thought about its changes: they are chosen again.
      if (database.collection.shards !== shards) continue;
      for (const entry of entries) changes.push(changeOf(entry, request.winningRevsOnly));
      for (const { shard, seq } of ends) after[shard] = seq;
      if (slice.isOver) await slice.next();
      signal.throwIfAborted();
    }
    follow();
    // There are no more changes than sequences; counting them would take longer than reading them.
    const pending = gapOf({ after, upTo: currentPositions(database) });
    yield { changes, lastSeq: new SequenceWriter(database, after).token(), pending };
    signal.throwIfAborted();
    if (pending > 0) continue;
    if (!request.continuous) return;
    await moreThan(registry, database, after, signal);
  }
}

function changeOf({ value, revs }: ChangeEntry, winnerOnly: boolean): Change {
  const { id, leaves } = decodeChange(value);
  return { id, revs: revs ?? (winnerOnly ? leaves.slice(0, 1) : leaves) };
}

/** Undefined where all changes are wanted. */
async function choiceOf(
  place: Place,
  { selection, winningRevsOnly }: ChangesRequest,
): Promise<Choice | undefined> {
  if (selection.kind === 'all') return undefined;
  const { registry, database, user } = place;
  return {
    filter: filterOf(place, selection),
    docIds: selection.kind === 'doc_ids' ? await setOf(selection.ids, database.runtime) : undefined,
    docIdsLookedUpMax: registry.config.number('chttpd/changes_doc_ids_optimization_threshold'),
    allLeaves: !winningRevsOnly,
    conflicts: false,
    show: registry.showFor(database, user),
  };
}

async function setOf(ids: readonly string[], runtime: Runtime): Promise<Set<Bytes>> {
  const set = new Set<Bytes>();
  const slice = runtime.slice();
  for (const id of ids) {
    set.add(toBytes(id));
    if (slice.isOver) await slice.next();
  }
  return set;
}

function filterOf(place: Place, selection: Selection): ChangeFilter | undefined {
  if (selection.kind === 'selector') {
    const timeoutMs = place.registry.config.number('tuffet/query_timeout_ms');
    return selectorFilter(compileSelector(selection.selector), place.database.runtime, timeoutMs);
  }
  if (selection.kind !== 'filter') return undefined;
  const { scripts, database } = place;
  const { name, params } = selection;
  if (name === '_design') return designFilter;
  if (name === '_view') {
    const [ddoc = '', view = ''] = String(params['view']).split('/');
    return scriptFilter(ScriptFilter.byView(scripts, database, ddoc, view));
  }
  if (name.startsWith('_')) throw badRequest(`unknown builtin filter name: ${name}`);
  const [ddoc, filter] = filterParts(name)!;
  const request = toBytes(JSON.stringify(requestOf(place, selection)));
  return scriptFilter(ScriptFilter.byFunction(scripts, database, ddoc, filter, request));
}

const scriptFilter = (script: ScriptFilter): ChangeFilter => functionFilter((docs) => script.accepts(docs));

/** What a filter function is told of the request: as much as there would be, if there were one. */
function requestOf(
  { registry, database, user }: Place,
  { name, params }: Selection & { kind: 'filter' },
): Record<string, unknown> {
  const texts = Object.entries(params).map(([key, value]) => [key, paramText(value)]);
  const path = [database.name, '_changes'];
  return {
    info: databaseInfo(database, registry.membership),
    id: null,
    method: 'GET',
    requested_path: path,
    path,
    query: { ...(Object.fromEntries(texts) as Record<string, string>), filter: name },
    headers: {},
    body: 'undefined',
    peer: '127.0.0.1',
    form: {},
    cookie: {},
    userCtx: functionUser(database, user),
    secObj: functionSecurity(database),
  };
}

/** Waits until there is something behind a place. */
async function moreThan(
  registry: DatabaseRegistry,
  database: Database,
  after: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  const gap = (): number =>
    gapOf({ after: followPositions(database, after), upTo: currentPositions(database) });
  while (gap() === 0) {
    const ended = await ChangeHub.of(registry, database).news(signal);
    signal.throwIfAborted();
    if (ended === 'database_deleted')
      throw new RequestError('db_not_found', `could not open ${database.name}`);
    if (ended !== undefined) throw new Error('the server is closing');
  }
}
