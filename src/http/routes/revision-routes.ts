import { asBytes, fromBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { badRequest } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import { purgeDocs, purgedInfos } from '../../documents/purge-docs.js';
import { revsDiff, type RevsDiff } from '../../documents/revs-diff.js';
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
  return await exchange.runtime.slice().map(Object.keys(body), (name) => {
    const id = name.toWellFormed();
    database.checkPlace(toBytes(id));
    return { id, revs: parseRevs(body[name]) };
  });
}

/** Built entry by entry, so that an id called `__proto__` is one like any other. */
const objectOf = (entries: readonly (Bytes | undefined)[]): Bytes =>
  asBytes(`{${entries.filter((entry) => entry !== undefined).join(',')}}`);

const entryOf = (id: string, value: unknown): Bytes =>
  toBytes(`${JSON.stringify(id)}:${JSON.stringify(value)}`);

async function postRevsDiff(exchange: Exchange, database: Database): Promise<void> {
  const show = exchange.services.registry.showFor(database, exchange.user);
  const rows = await exchange.runtime
    .slice()
    .map(await revsById(exchange, database), ({ id, revs }) =>
      diffRow(toBytes(id), revsDiff(database, toBytes(id), revs, show)),
    );
  exchange.text(200, objectOf(rows));
}

/** Undefined where nothing is missing. */
function diffRow(id: Bytes, { missing, possibleAncestors }: RevsDiff): Bytes | undefined {
  if (missing.length === 0) return undefined;
  const ancestors =
    possibleAncestors.length === 0 ? '' : `,"possible_ancestors":${quoteRevs(possibleAncestors)}`;
  return asBytes(`${quoteId(id)}:{"missing":${quoteRevs(missing)}${ancestors}}`);
}

const quoteRevs = (revs: readonly Rev[]): Bytes => asBytes(`[${revs.map(quoteRev).join(',')}]`);

async function missingRevs(exchange: Exchange, database: Database): Promise<void> {
  const show = exchange.services.registry.showFor(database, exchange.user);
  const rows = await exchange.runtime.slice().map(await revsById(exchange, database), ({ id, revs }) => {
    const { missing } = revsDiff(database, toBytes(id), revs, show);
    return missing.length === 0 ? undefined : entryOf(id, missing.map(formatRev));
  });
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
