/** The body of `POST /{db}/_index`, checked. */
import { createHash } from 'node:crypto';
import { RequestError } from '../base/errors.js';
import { selectorJson } from '../selectors/node.js';
import { shown } from '../selectors/refusals.js';
import { compileSelector } from '../selectors/selector.js';
import { invalidIndexName, invalidKey, missingKey, readBoolean, readPositive } from './refusals.js';
import { readSort } from './sort.js';
import { textIndexOf } from './text-index-request.js';

type JsonObject = Readonly<Record<string, unknown>>;

export interface IndexRequest {
  /** The id of the design document. */
  readonly ddoc: string;
  readonly name: string;
  /** Undefined where the request leaves it open. */
  readonly partitioned: boolean | undefined;
  readonly type: IndexType;
  /** What stands for the index in its design document: a view, or a search index. */
  readonly definition: JsonObject;
}

export type IndexType = 'json' | 'text';

/** What `w` is where a request does not say it. */
const copiesUsual = 2;

const members = new Set(['index', 'type', 'name', 'ddoc', 'w', 'partitioned']);

export function readIndexRequest(body: JsonObject): IndexRequest {
  if (!Object.hasOwn(body, 'index')) throw missingKey('index');
  const givenType = Object.hasOwn(body, 'type') ? body['type'] : 'json';
  if (typeof givenType !== 'string') throw invalidString(givenType);
  const given = readName(body, 'name');
  const givenDdoc = readName(body, 'ddoc');
  const copies = Object.hasOwn(body, 'w') ? readPositive(body['w']) : copiesUsual;
  const partitioned = Object.hasOwn(body, 'partitioned') ? readBoolean(body['partitioned']) : undefined;
  for (const name of Object.keys(body)) if (!members.has(name)) throw invalidKey(name);
  const type = readType(givenType);
  const definition = type === 'json' ? viewOf(body['index']) : textIndexOf(body['index']);
  // As in CouchDB, the options of a request tell generated names apart too.
  const isUsual = copies === copiesUsual && partitioned === undefined;
  const generated = (of: unknown): string =>
    createHash('sha1')
      .update(JSON.stringify(isUsual ? of : [of, copies, partitioned ?? null]))
      .digest('hex');
  const name = given ?? generated(definition);
  // Indexes of different names have design documents of their own, so that one can be deleted without the other.
  const ddoc = givenDdoc ?? generated(given === undefined ? definition : [given, definition]);
  return {
    ddoc: ddoc.startsWith('_design/') ? ddoc : `_design/${ddoc}`,
    name,
    partitioned,
    type,
    definition,
  };
}

/** Whether it asks for a text index of whatever documents have. */
export const hasAllFields = ({ type, definition }: IndexRequest): boolean =>
  type === 'text' && (definition['index'] as JsonObject)['fields'] === 'all_fields';

function readType(type: string): IndexType {
  if (type === 'json' || type === 'text') return type;
  if (type === 'nouveau')
    throw new RequestError('service_unavailable', 'There are no indexes of type nouveau: use text.');
  throw new RequestError('invalid_index', `Invalid type for index: ${type}`);
}

const invalidString = (value: unknown): RequestError =>
  new RequestError('invalid_string', `Invalid string: ${shown(value)}`);

function readName(body: JsonObject, member: string): string | undefined {
  if (!Object.hasOwn(body, member)) return undefined;
  const name = body[member];
  if (name === '')
    throw new RequestError('invalid_empty_string', 'Index name or ddoc cannot be empty string');
  if (typeof name !== 'string') throw invalidString(name);
  if (name === '_design/') throw invalidIndexName(name);
  return name.toWellFormed();
}

/** As CouchDB stores it: the fields in their order, the selector in its normal form, and what the client wrote. */
function viewOf(index: unknown): JsonObject {
  if (typeof index !== 'object' || index === null || Array.isArray(index))
    throw new RequestError('invalid_index', `JSON indexes must be an object, not: ${shown(index)}`);
  const def = index as JsonObject;
  if (!Object.hasOwn(def, 'fields')) throw missingKey('fields');
  for (const name of Object.keys(def))
    if (name !== 'fields' && name !== 'partial_filter_selector') throw invalidKey(name);
  const { fields, direction } = readSort(def['fields']);
  const filter = Object.hasOwn(def, 'partial_filter_selector')
    ? selectorJson(compileSelector(def['partial_filter_selector']).normal)
    : {};
  return {
    map: {
      fields: Object.fromEntries(fields.map((field) => [field, direction])),
      partial_filter_selector: filter,
    },
    reduce: '_count',
    options: { def },
  };
}

/** The body of `POST /{db}/_index/_bulk_delete`: the ids of design documents. */
export function readBulkDelete(body: JsonObject): string[] {
  if (!Object.hasOwn(body, 'docids')) throw missingKey('docids');
  const { docids } = body;
  if (!Array.isArray(docids))
    throw new RequestError(
      'invalid_bulk_docs',
      `Bulk Delete requires an array of non-null docids. Docids: ${shown(docids)}`,
    );
  if (Object.hasOwn(body, 'w')) readPositive(body['w']);
  for (const name of Object.keys(body)) if (name !== 'docids' && name !== 'w') throw invalidKey(name);
  return docids.map((id: unknown) => {
    if (typeof id !== 'string' || id === '') throw invalidIndexName(id);
    return id.startsWith('_design/') ? id : `_design/${id}`;
  });
}
