import { badRequest, notFound } from '../../base/errors.js';
import { isPeriod } from '../../config/period.js';
import type { AutoPurgeSettings } from '../../node/upkeep-settings.js';
import type { Database } from '../../node/database.js';
import { createExpiryIndex, removeExpiryIndex } from '../../query/expiry.js';
import { parseField } from '../../selectors/field-path.js';
import { requireJson } from '../request/body.js';
import type { Exchange } from '../exchange.js';
import type { DatabaseRoute } from './route.js';

/** What the server does to a database by itself as time passes. */
export const upkeepRoutes: readonly DatabaseRoute[] = [
  {
    path: '/{db}/_auto_purge',
    allow: 'GET,PUT,HEAD',
    access: { GET: 'member', PUT: 'server_admin' },
    methods: { GET: getAutoPurge, PUT: putAutoPurge },
  },
  {
    path: '/{db}/_expiry',
    allow: 'GET,PUT,DELETE,HEAD',
    access: { GET: 'member', PUT: 'db_admin', DELETE: 'db_admin' },
    methods: { GET: getExpiry, PUT: putExpiry, DELETE: deleteExpiry },
  },
  {
    path: '/{db}/_time_seq',
    allow: 'GET,DELETE',
    access: { GET: 'member', DELETE: 'db_admin' },
    methods: { GET: getTimeSeq, DELETE: resetTimeSeq },
  },
];

function getAutoPurge(exchange: Exchange, database: Database): void {
  exchange.json(200, database.record.auto_purge ?? {});
}

async function putAutoPurge(exchange: Exchange, database: Database): Promise<void> {
  requireJson(exchange.request);
  const settings = await exchange.jsonObject();
  checkAutoPurge(settings);
  await exchange.services.registry.setDatabase(database, { auto_purge: settings as AutoPurgeSettings });
  exchange.json(201, { ok: true });
}

/** CouchDB takes periods only; a plain number of seconds is this server's own. */
function checkAutoPurge(settings: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(settings)) {
    if (name !== 'deleted_document_ttl') throw badRequest('invalid auto purge property');
    const isSeconds = typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
    if (!isSeconds && !(typeof value === 'string' && isPeriod(value)))
      throw badRequest(
        'deleted_document_ttl must be a period such as "30_days", "infinity", or a whole number of seconds.',
      );
  }
}

function getExpiry(exchange: Exchange, database: Database): void {
  exchange.json(200, database.record.expiry ?? {});
}

const fieldLengthMax = 1_000;

async function putExpiry(exchange: Exchange, database: Database): Promise<void> {
  requireJson(exchange.request);
  const { field, ...others } = await exchange.jsonObject();
  if (Object.keys(others).length > 0) throw badRequest('_expiry takes one member, `field`.');
  if (typeof field !== 'string' || field === '' || field.length > fieldLengthMax || isReserved(field))
    throw badRequest(
      `\`field\` must be the name of a member of documents: a string of 1 to ${fieldLengthMax} characters that does not begin with an underscore or a dollar sign.`,
    );
  const { registry } = exchange.services;
  await createExpiryIndex(registry, database, field);
  await registry.setDatabase(database, { expiry: { field } });
  exchange.json(201, { ok: true });
}

const isReserved = (field: string): boolean => /^[_$]/.test(parseField(field)[0]!);

async function deleteExpiry(exchange: Exchange, database: Database): Promise<void> {
  if (database.record.expiry?.field === undefined) throw notFound('missing');
  const { registry } = exchange.services;
  await registry.setDatabase(database, { expiry: {} });
  await removeExpiryIndex(registry, database);
  exchange.json(200, { ok: true });
}

function getTimeSeq(exchange: Exchange, database: Database): void {
  const { nodeName, timeSeq } = exchange.services.registry;
  const byRange = Object.entries(timeSeq.histogram(database));
  exchange.json(200, {
    time_seq: Object.fromEntries(byRange.map(([range, counts]) => [range, { [nodeName]: counts }])),
  });
}

async function resetTimeSeq(exchange: Exchange, database: Database): Promise<void> {
  await exchange.services.registry.timeSeq.reset(database);
  exchange.json(200, { ok: true });
}
