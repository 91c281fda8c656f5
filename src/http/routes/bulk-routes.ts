import { fromBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { badRequest, notAnObject, Refusal } from '../../base/errors.js';
import { isDbAdmin } from '../../auth/rights.js';
import type { Database } from '../../cluster/database.js';
import { isDesignId, readDocument } from '../../cluster/document-input.js';
import { quoteId, quoteRev } from '../../cluster/doc-text.js';
import { updateDocs, type NamedInput, type SavedRev } from '../../cluster/update-docs.js';
import { parseValue, scanBulk, type Member } from '../../json/scan.js';
import { requireJson } from '../body.js';
import { inputLimits } from '../edit-request.js';
import type { Exchange } from '../exchange.js';
import type { DatabaseRoute } from '../route.js';

/** Many documents in one request. */
export const bulkRoutes: readonly DatabaseRoute[] = [
  { path: '/{db}/_bulk_docs', allow: 'POST', access: 'member', methods: { POST: bulkDocs } },
];

async function bulkDocs(exchange: Exchange, database: Database): Promise<void> {
  requireJson(exchange.request);
  const bytes = await exchange.body();
  const scanned = scanBulk(bytes, 'docs');
  if (scanned === undefined) throw notAnObject();
  const member = (name: string): Member | undefined => scanned.members.find((each) => each.name === name);
  if (member('docs') === undefined) throw badRequest('POST body must include `docs` parameter.');
  if (scanned.elements === undefined) throw badRequest('`docs` parameter must be an array.');
  const newEdits = readNewEdits(bytes, member('new_edits'));
  const { config, metrics, uuids } = exchange.services;
  const docsMax = config.number('tuffet/bulk_docs_max');
  if (scanned.elements.length > docsMax) throw new Refusal('too_large', `A bulk request may hold ${docsMax} documents at most.`);
  const limits = inputLimits(exchange);
  const inputs = scanned.elements.map((element): NamedInput => {
    const input = readDocument(element, limits);
    return input.id === undefined ? { ...input, id: toBytes(uuids.next()) } : (input as NamedInput);
  });
  metrics.bulkRequests++;
  if (isAllOrNothing(bytes, member('all_or_nothing'))) return refuseAllOrNothing(exchange, inputs);
  const allowed = isDbAdmin(exchange.user, database.security) ? inputs : inputs.filter(({ id }) => !isDesignId(id));
  const saved = await updateDocs(database, allowed, newEdits);
  metrics.documentWrites += saved.length;
  exchange.text(201, answer(exchange, inputs, allowed, saved, newEdits));
}

function readNewEdits(bytes: Buffer, member: Member | undefined): boolean {
  if (member === undefined) return true;
  const value = parseValue(bytes, member.valueStart, member.valueEnd);
  if (typeof value !== 'boolean') throw badRequest('`new_edits` parameter must be a boolean.');
  return value;
}

function isAllOrNothing(bytes: Buffer, member: Member | undefined): boolean {
  return member !== undefined && parseValue(bytes, member.valueStart, member.valueEnd) === true;
}

function refuseAllOrNothing(exchange: Exchange, inputs: readonly NamedInput[]): void {
  const rows = inputs.map(({ id }) => ({ id: fromBytes(id), rev: '0-', error: 'not_implemented', reason: 'all_or_nothing is not supported' }));
  exchange.json(417, rows);
}

/** One row for each document, in their order. With `new_edits` off, success is silence. */
function answer(
  exchange: Exchange,
  inputs: readonly NamedInput[],
  allowed: readonly NamedInput[],
  saved: readonly SavedRev[],
  newEdits: boolean,
): Bytes {
  let text = '';
  let separator = '[';
  let next = 0;
  for (const input of inputs) {
    const refused = allowed !== inputs && isDesignId(input.id);
    const rev = refused ? undefined : saved[next++];
    if (rev !== undefined && !newEdits) continue;
    text += separator + row(exchange, input.id, rev, refused);
    separator = ',';
  }
  return text === '' ? '[]' : `${text}]`;
}

function row(exchange: Exchange, id: Bytes, rev: SavedRev, refused: boolean): Bytes {
  if (rev !== undefined) return `{"ok":true,"id":${quoteId(id)},"rev":${quoteRev(rev)}}`;
  if (!refused) return `{"id":${quoteId(id)},"error":"conflict","reason":"Document update conflict."}`;
  const error = exchange.user.name === null ? 'unauthorized' : 'forbidden';
  return `{"id":${quoteId(id)},"error":"${error}","reason":"You are not a db or server admin."}`;
}
