import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { UserContext } from '../../base/user-context.js';
import { asBytes, type Bytes } from '../../base/bytes.js';
import { ChangeHub } from '../../changes/change-hub.js';
import { ChangeReader } from '../../changes/change-reader.js';
import { gapOf } from '../../changes/merge-changes.js';
import type { Database } from '../../node/database.js';
import { currentPositions, followPositions, type Positions } from '../../node/sequence.js';
import type { Exchange } from '../exchange.js';
import { reauthenticate } from '../request/login.js';
import { contentTypeFor, namesTag } from '../request/negotiate.js';
import { writePiece } from '../answer/stream.js';
import type { SharedView } from './changes-view.js';
import { eventsForm, linesForm, listForm, type FeedForm } from './feed-form.js';
import type { FeedKind, FeedRequest } from './feed-request.js';
import { HttpFeed } from './http-feed.js';

/** A feed that a request asks for. */
export interface FeedPlan extends SharedView {
  database: Database;
  request: FeedRequest;
  /** Where it begins: behind what the client has seen. */
  since: Positions;
  /** Whether the answer ends with how much is still to come. */
  countsPending: boolean;
  /** Whether the time without changes counts, and not all of the time. */
  timeoutIsIdle: boolean;
  /** Refuses users who must not listen. */
  checkAccess: (user: UserContext) => void;
}

export function formOf(kind: FeedKind): FeedForm {
  if (kind === 'continuous') return linesForm;
  return kind === 'eventsource' ? eventsForm : listForm;
}

/** Answers a request by a feed: one that ends with what there is, or one that goes on. */
export async function answerFeed(exchange: Exchange, plan: FeedPlan): Promise<void> {
  const { database, request } = plan;
  const { kind, descending } = request;
  if (kind === 'normal') {
    const etag = etagOf(database);
    const isKnown = exchange.method !== 'POST' && namesTag(exchange.header('if-none-match'), etag);
    if (isKnown) return exchange.empty(304, { ETag: etag });
    return await answerOnce(exchange, plan, { ETag: etag });
  }
  const upTo = currentPositions(database);
  if (
    kind === 'longpoll' &&
    descending &&
    gapOf({ after: followPositions(database, plan.since), upTo }) > 0
  ) {
    return await answerOnce(exchange, plan, {});
  }
  exchange.head(200, headersOf(exchange, kind));
  if (exchange.method === 'HEAD') return void exchange.response.end();
  if (!descending) return follow(exchange, plan, plan.since, request.limit);
  const left = await writeDescending(exchange, plan, upTo);
  if (left !== undefined) follow(exchange, plan, upTo, left);
}

function headersOf(exchange: Exchange, kind: FeedKind): OutgoingHttpHeaders {
  if (kind !== 'eventsource') return { 'Content-Type': contentTypeFor(exchange.header('accept')) };
  return { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' };
}

/** A tag belongs to one address, so where the database stands is all it has to tell. */
const etagOf = (database: Database): string =>
  `"${database.record.instance}-${database.total('position').toString(36)}"`;

async function answerOnce(exchange: Exchange, plan: FeedPlan, headers: OutgoingHttpHeaders): Promise<void> {
  const reader = readerOf(exchange, plan);
  try {
    await sendList(exchange, listPieces(plan, reader, exchange.response), headers);
  } finally {
    reader.close();
  }
}

async function sendList(
  exchange: Exchange,
  pieces: AsyncGenerator<Buffer, Buffer>,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  const { response, method } = exchange;
  const first = await pieces.next();
  if (first.done === true) return exchange.text(200, first.value.latin1Slice(0, first.value.length), headers);
  // The first piece is not all: what is this long is likely to be much longer.
  exchange.jsonHead(200, headers, 2 * first.value.length);
  if (method === 'HEAD') return void response.end();
  for (let piece: IteratorResult<Buffer, Buffer> = first; ; piece = await pieces.next()) {
    if (!(await writePiece(exchange, piece.value))) return;
    if (piece.done === true) return exchange.endJson(asBytes('\n'));
  }
}

/** Small pieces are put together up to this size. */
const pieceBytesMin = 16 * 1024;

/** All rows up to where the database stands now, as one object; the last piece is what is returned. */
async function* listPieces(
  plan: FeedPlan,
  reader: ChangeReader,
  response: ServerResponse,
): AsyncGenerator<Buffer, Buffer> {
  // What comes later is for the next request: a feed that follows the writers might never end.
  const upTo = currentPositions(plan.database);
  let left = plan.request.limit;
  let isFirst = true;
  let waiting: Buffer[] = [Buffer.from(listForm.opening)];
  let bytes = 0;
  for (
    let piece = await reader.next(left, upTo);
    piece !== undefined;
    piece = await reader.next(left, upTo)
  ) {
    left -= piece.rows;
    if (piece.bytes.length === 0) continue;
    waiting.push(isFirst ? piece.bytes.subarray(1) : piece.bytes);
    isFirst = false;
    bytes += piece.bytes.length;
    if (bytes < pieceBytesMin) continue;
    yield join(waiting);
    waiting = [];
    bytes = 0;
  }
  if (response.closed) return join(waiting);
  const summary = summaryOf(plan, reader.token(), await reader.pending());
  return join([...waiting, Buffer.from(listForm.ending(summary).trimEnd(), 'latin1')]);
}

const join = (pieces: readonly Buffer[]): Buffer =>
  pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);

function readerOf(exchange: Exchange, { database, view, since, request }: FeedPlan): ChangeReader {
  const { registry } = exchange.services;
  const reader = request.descending
    ? new ChangeReader(registry, database, view, currentPositions(database), since)
    : new ChangeReader(registry, database, view, since);
  // A filter may search for long without a row to write, which would tell that the client is gone.
  exchange.response.once('close', () => reader.close());
  return reader;
}

/** What is there, the newest first. Gives how many rows may follow; undefined when the client went away. */
async function writeDescending(
  exchange: Exchange,
  plan: FeedPlan,
  upTo: Positions,
): Promise<number | undefined> {
  const reader = readerOf(exchange, plan);
  let left = plan.request.limit;
  try {
    for (
      let piece = await reader.next(left, upTo);
      piece !== undefined;
      piece = await reader.next(left, upTo)
    ) {
      left -= piece.rows;
      if (piece.bytes.length > 0 && !(await writePiece(exchange, piece.bytes))) return undefined;
    }
  } finally {
    reader.close();
  }
  return left;
}

/** A feed that stays open until it times out, the client disconnects, or the database is deleted. */
function follow(exchange: Exchange, plan: FeedPlan, start: Positions, limit: number): void {
  const { services, response } = exchange;
  const { database, request, view, shareKey, checkAccess, timeoutIsIdle } = plan;
  const { kind, timeout, heartbeat } = request;
  const hub = ChangeHub.of(services.registry, database);
  const listener = new HttpFeed(response, {
    form: formOf(kind),
    once: kind === 'longpoll',
    timeout,
    timeoutIsIdle,
    heartbeat,
    wheel: services.wheel,
    metrics: services.metrics,
    recheck: async () => checkAccess(await reauthenticate(exchange)),
    summary: async ({ positions }, skipExactCount) => {
      const quick = skipExactCount || !plan.countsPending;
      const pending = quick ? hub.pendingMost(positions) : await hub.pending(positions);
      return summaryOf(plan, hub.token(positions), pending);
    },
    onError: (error) => services.logger.error({ err: error, id: exchange.id }, 'a feed failed'),
  });
  listener.begin(hub.follow({ view, start, limit, shareKey }, listener));
  // One that was asked for while the server closes sends what it has seen of it and goes.
  if (services.registry.feedsEnded) services.registry.endFeeds('server_closing');
  if (database.endReason !== undefined) hub.end(database.endReason);
}

const summaryOf = ({ countsPending }: FeedPlan, token: Bytes, pending: number): Bytes =>
  asBytes(`"last_seq":"${token}"${countsPending ? `,"pending":${pending}` : ''}`);
