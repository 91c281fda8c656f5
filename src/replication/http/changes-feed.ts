import { toBytes } from '../../base/bytes.js';
import { parseRev } from '../../revisions/rev.js';
import { paramText } from '../filter-params.js';
import type { Change, ChangesPage, ChangesRequest, Selection, Seq } from '../peer.js';
import { isSeq, sameSeq, seqText } from '../seq.js';
import type { Call, Connection } from './connection.js';
import { membersOf } from './members.js';

/**
 * The feed of another server, page by page: a page is one answer, small enough to be read whole, and the next begins
 * behind it, so a connection that breaks costs one page. At the end a continuous feed asks for what is yet to come, and
 * that answer waits, with signs of life, until there is something.
 */
export async function* readChanges(
  connection: Connection,
  request: ChangesRequest,
  heartbeatMs: number,
): AsyncGenerator<ChangesPage> {
  let since: Seq = request.since;
  let waiting = false;
  for (;;) {
    const call = changesCall(request, since, waiting, heartbeatMs);
    const { status, value } = await connection.json(call);
    if (status !== 200) throw connection.unexpected(call, status, value);
    const page = readPage(value);
    if (page === undefined) throw connection.failure(call, 'was answered by something that is no feed');
    const moved = page.rows > 0 || !sameSeq(page.lastSeq, since);
    const more = page.pending === null ? page.rows >= request.pageSize : page.pending > 0 && moved;
    since = page.lastSeq;
    yield page;
    if (!more && !request.continuous) return;
    waiting = !more;
  }
}

function changesCall(
  { selection, winningRevsOnly, pageSize }: ChangesRequest,
  since: Seq,
  waiting: boolean,
  heartbeatMs: number,
): Call {
  // A filter's own parameters come first: none may take the place of those that lead through the feed.
  const query = {
    ...filterQuery(selection),
    style: winningRevsOnly ? 'main_only' : 'all_docs',
    since: seqText(since),
    limit: String(pageSize),
    feed: waiting ? 'longpoll' : 'normal',
    heartbeat: String(heartbeatMs),
  };
  const body = filterBody(selection);
  if (body === undefined) return { method: 'GET', path: '_changes', query };
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', path: '_changes', query, headers, body: () => body };
}

function filterQuery(selection: Selection): Record<string, string> {
  if (selection.kind === 'doc_ids') return { filter: '_doc_ids' };
  if (selection.kind === 'selector') return { filter: '_selector' };
  if (selection.kind === 'all') return {};
  const params = Object.entries(selection.params).map(([name, value]) => [name, paramText(value)]);
  return { ...(Object.fromEntries(params) as Record<string, string>), filter: selection.name };
}

function filterBody(selection: Selection): string | undefined {
  if (selection.kind === 'doc_ids') return JSON.stringify({ doc_ids: selection.ids });
  if (selection.kind === 'selector') return JSON.stringify({ selector: selection.selector });
  return undefined;
}

/** Undefined for what is no page of a feed. */
function readPage(value: unknown): (ChangesPage & { rows: number }) | undefined {
  const { results, last_seq: lastSeq, pending } = membersOf(value);
  if (!Array.isArray(results) || !isSeq(lastSeq)) return undefined;
  const changes: Change[] = [];
  for (const row of results) {
    const { id, changes: listed } = membersOf(row);
    if (typeof id !== 'string' || !Array.isArray(listed)) return undefined;
    const revs = listed.map((change) => parseRev(String(membersOf(change)['rev'])));
    changes.push({ id: toBytes(id.toWellFormed()), revs });
  }
  return {
    changes,
    rows: changes.length,
    lastSeq,
    pending: typeof pending === 'number' ? pending : null,
  };
}
