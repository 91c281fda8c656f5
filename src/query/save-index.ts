import { asBytes, fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import { badRequest, notFound, RequestError } from '../base/errors.js';
import type { UserContext } from '../base/user-context.js';
import type { IndexRequest, IndexType } from './index-request.js';
import { textDefinition } from '../indexes/text-definition.js';
import { makeAnalyzer } from '../search/analysis/analyzer.js';
import { queryLanguage } from './query-index.js';
import type { Rev } from '../revisions/rev.js';
import { encodeContent, splitContent, type Attachment } from '../shard/content.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { queryIndexes } from './query-indexes.js';
import { saveDoc } from '../documents/save-docs.js';
import { knownId } from '../shard/doc-id.js';
import { plainInput } from '../shard/document-input.js';

export interface IndexContext {
  registry: DatabaseRegistry;
  database: Database;
  user: UserContext;
}

type JsonObject = Record<string, unknown>;

/** A design document as it is, or as it would begin. */
interface Design {
  id: Bytes;
  rev: Rev | undefined;
  doc: JsonObject;
  attachments: readonly Attachment[];
}

/** Others may write the same design document at the same time. */
const attemptsMax = 10;

/** Adds an index to its design document; tells whether that was new. */
export async function createIndex(
  context: IndexContext,
  request: IndexRequest,
): Promise<'created' | 'exists'> {
  if (request.type === 'text') await checkAnalyzer(request.definition);
  return await withRetries(async () => {
    const design = load(context.database, toBytes(request.ddoc));
    const next = withIndex(design, request);
    // After the comparison with what the design document says, as in CouchDB.
    if (request.partitioned === true && !context.database.isPartitioned)
      throw badRequest('partitioned option cannot be true in a non-partitioned database.');
    if (design.rev !== undefined && JSON.stringify(next) === JSON.stringify(design.doc)) return 'exists';
    await save(context, design, next);
    return 'created';
  });
}

/** Refuses an analyzer that is not known: the index could never be filled. */
async function checkAnalyzer(definition: IndexRequest['definition']): Promise<void> {
  const { defaultField } = textDefinition(definition)!;
  if (defaultField !== undefined) await makeAnalyzer(defaultField);
}

/** An index joins a design document that has the same option, or as little of one; only a new document is given one. */
function withIndex(
  { rev, doc }: Design,
  { ddoc, name, type, definition, partitioned }: IndexRequest,
): JsonObject {
  checkLanguage(doc);
  const member = memberOf(type);
  const next = { ...doc, [member]: { ...objectOf(doc[member]), [name]: definition } };
  const options = objectOf(doc['options']);
  if (partitioned === options['partitioned']) return next;
  if (rev !== undefined)
    throw new RequestError(
      'invalid_partitioned_option',
      `Requested partitioned option does not match existing value on design document ${ddoc}`,
    );
  return { ...next, options: { ...options, partitioned } };
}

/** Where design documents have their indexes. */
const memberOf = (type: IndexType): 'views' | 'indexes' => (type === 'json' ? 'views' : 'indexes');

/** CouchDB's message has the language in Erlang's notation; so has this one, for clients that compare it. */
function checkLanguage(doc: JsonObject): void {
  const { language } = doc;
  if (language === queryLanguage) return;
  const shown = language === undefined ? 'false' : `{${erlang('language')},${erlang(String(language))}}`;
  throw new RequestError('invalid_ddoc_lang', `Existing design doc has an invalid language: ${shown}`);
}

const erlang = (text: string): string => `<<${[...Buffer.from(text)].join(',')}>>`;

/** Takes an index out of its design document, and the document with its last one. */
export async function deleteIndex(
  context: IndexContext,
  { ddoc, type, name }: { ddoc: string; type: IndexType; name: string },
): Promise<void> {
  await withRetries(async () => {
    const found = queryIndexes(context.database).some(
      (index) => index.ddoc === ddoc && index.type === type && index.name === name,
    );
    if (!found) throw notFound('missing');
    const design = load(context.database, toBytes(ddoc));
    const member = memberOf(type);
    const indexes = { ...objectOf(design.doc[member]) };
    delete indexes[name];
    const rest: JsonObject = { ...design.doc, [member]: indexes };
    if (Object.keys(indexes).length === 0) delete rest[member];
    if (rest['views'] !== undefined || rest['indexes'] !== undefined)
      return await save(context, design, rest);
    const isBare = Object.keys(rest).length === 1 && design.attachments.length === 0;
    await save(context, design, isBare ? undefined : rest);
  });
}

export interface BulkDeleted {
  success: { id: string; ok: true }[];
  fail: { id: string; error: string }[];
}

/** Deletes whole design documents that hold indexes. */
export async function deleteIndexes(context: IndexContext, ddocs: readonly string[]): Promise<BulkDeleted> {
  const result: BulkDeleted = { success: [], fail: [] };
  for (const ddoc of ddocs) {
    try {
      await withRetries(async () => {
        if (!queryIndexes(context.database).some((index) => index.ddoc === ddoc)) throw notFound('missing');
        await save(context, load(context.database, toBytes(ddoc)), undefined);
      });
      result.success.unshift({ id: ddoc, ok: true });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      result.fail.unshift({ id: ddoc, error: error.error });
    }
  }
  return result;
}

async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = attemptsMax; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof RequestError) || error.error !== 'conflict' || left === 1) throw error;
    }
  }
}

function load(database: Database, id: Bytes): Design {
  const { collection } = database;
  const winner = collection.winner(id);
  if (winner === undefined || winner.deleted)
    return { id, rev: undefined, doc: { language: queryLanguage }, attachments: [] };
  const { body, attachments } = splitContent(collection.winnerBody(database.shardOf(id), winner));
  return { id, rev: winner, doc: JSON.parse(fromBytes(body)) as JsonObject, attachments };
}

/** Undefined deletes. */
async function save(
  { registry, database, user }: IndexContext,
  design: Design,
  doc: JsonObject | undefined,
): Promise<void> {
  const body =
    doc === undefined ? asBytes('{}') : encodeContent(design.attachments, toBytes(JSON.stringify(doc)));
  const input = plainInput(knownId(design.id), design.rev, body, doc === undefined);
  await saveDoc(registry, database, input, { user, newEdits: true });
}

const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
