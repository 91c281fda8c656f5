import { asBytes, fromBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { badRequest } from '../../base/errors.js';
import type { TimeSlice } from '../../base/turns.js';
import type { Database } from '../../node/database.js';
import { purgeDocs, purgedInfos } from '../../documents/purge-docs.js';
import { revsDiff, revsDiffInSlices, type RevsDiff } from '../../documents/revs-diff.js';
import { formatRev, type Rev } from '../../revisions/rev.js';
import { quoteId, quoteRev } from '../../shard/doc-text.js';
import type { Exchange } from '../exchange.js';
import { parseRevs } from '../answer/open-revs-answer.js';
import type { DatabaseRoute } from './route.js';

/** What concerns revisions rather than documents. */
export const revisionRoutes: readonly DatabaseRoute[] = [
  { path: '/{db}/_revs_diff', allow: 'POST', access: 'member', methods: { POST: postRevsDiff } },
  { path: '/{db}/_missing_revs', allow: 'POST', access: 'member', methods: { POST: missingRevs } },
  { path: '/{db}/_purge', allow: 'POST', access: 'server_admin', methods: { POST: purge } },
  { path: '/{db}/_purged_infos', allow: 'GET', access: 'listing', methods: { GET: getPurgedInfos } },
];

interface Named {
  id: string;
  revs: Rev[];
}

/** A body that maps ids to lists of revisions. */
async function revsById(exchange: Exchange, database: Database): Promise<Named[]> {
  const body = await exchange.jsonObject();
  // `Object.entries` takes five times as long as this where there are many members.
  const slice = exchange.runtime.slice();
  const named: Named[] = [];
  for (const name of Object.keys(body)) {
    const id = name.toWellFormed();
    database.checkPlace(toBytes(id));
    const value = body[name];
    const isLong = Array.isArray(value) && value.length > revsAtOnce;
    const revs = isLong ? await slice.map(value, (rev) => parseRevs([rev])[0]!) : parseRevs(value);
    named.push({ id, revs });
    if (slice.isOver) await slice.next();
  }
  return named;
}

/** More revisions of one document are read and compared in slices. */
const revsAtOnce = 2_000;

/** What is missing of each document, as rows of the answer; undefined where nothing is. */
async function missingRows(
  exchange: Exchange,
  database: Database,
  rowOf: (id: string, diff: RevsDiff, slice: TimeSlice) => Bytes | undefined | Promise<Bytes>,
): Promise<(Bytes | undefined)[]> {
  const show = exchange.services.registry.showFor(database, exchange.user);
  const named = await revsById(exchange, database);
  const slice = exchange.runtime.slice();
  const rows: (Bytes | undefined)[] = [];
  for (const { id, revs } of named) {
    const isLong = revs.length > revsAtOnce;
    const diff = isLong
      ? await revsDiffInSlices(database, toBytes(id), revs, show)
      : revsDiff(database, toBytes(id), revs, show);
    const row = diff.missing.length === 0 ? undefined : rowOf(id, diff, slice);
    rows.push(row instanceof Promise ? await row : row);
    if (slice.isOver) await slice.next();
  }
  return rows;
}

/** Built entry by entry, so that an id called `__proto__` is one like any other. */
const objectOf = (entries: readonly (Bytes | undefined)[]): Bytes =>
  asBytes(`{${entries.filter((entry) => entry !== undefined).join(',')}}`);

const entryOf = (id: string, value: unknown): Bytes =>
  toBytes(`${JSON.stringify(id)}:${JSON.stringify(value)}`);

async function postRevsDiff(exchange: Exchange, database: Database): Promise<void> {
  const rows = await missingRows(exchange, database, (id, { missing, possibleAncestors }, slice) => {
    if (missing.length <= revsAtOnce)
      return diffRow(toBytes(id), missing.map(quoteRev), possibleAncestors.map(quoteRev));
    return slice
      .map(missing, quoteRev)
      .then((quoted) => diffRow(toBytes(id), quoted, possibleAncestors.map(quoteRev)));
  });
  exchange.text(200, objectOf(rows));
}

function diffRow(id: Bytes, missing: readonly Bytes[], possibleAncestors: readonly Bytes[]): Bytes {
  const ancestors =
    possibleAncestors.length === 0 ? '' : `,"possible_ancestors":[${possibleAncestors.join(',')}]`;
  return asBytes(`${quoteId(id)}:{"missing":[${missing.join(',')}]${ancestors}}`);
}

async function missingRevs(exchange: Exchange, database: Database): Promise<void> {
  const rows = await missingRows(exchange, database, (id, { missing }) =>
    entryOf(id, missing.map(formatRev)),
  );
  exchange.text(200, asBytes(`{"missing_revs":${objectOf(rows)}}`));
}

async function purge(exchange: Exchange, database: Database): Promise<void> {
  const { config, registry, metrics } = exchange.services;
  const named = await revsById(exchange, database);
  if (named.length > config.number('purge/max_document_id_number'))
    throw badRequest('Exceeded maximum number of documents.');
  const revCount = named.reduce((sum, { revs }) => sum + revs.length, 0);
  if (revCount > config.number('purge/max_revisions_number'))
    throw badRequest('Exceeded maximum number of revisions.');
  const removed = await purgeDocs(
    database,
    named.map(({ id, revs }) => ({ id: toBytes(id), revs })),
    registry.saveGates,
  ).catch((error: unknown) => {
    metrics.purges.failure += named.length;
    throw error;
  });
  metrics.purges.success += named.length;
  const rows = named.map(({ id }, i) => entryOf(id, { purged: removed[i]!.map(formatRev) }));
  exchange.text(201, asBytes(`{"purge_seq":null,"purged":${objectOf(rows)}}`));
}

function getPurgedInfos(exchange: Exchange, database: Database): void {
  const infos = purgedInfos(database).map(({ id, revs }) => ({
    id: fromBytes(id),
    revs: revs.map(formatRev),
  }));
  exchange.json(200, { purged_infos: infos });
}
