/**
 * The indexes that queries choose from. The documents in the order of their ids are one, which every database has; the
 * others are views and text indexes of design documents in the language `query`, as CouchDB stores them.
 */
import { indexDefinition } from '../indexes/definition.js';
import { isTextField, textDefinition, type TextDefinition } from '../indexes/text-definition.js';
import type { Direction } from './sort.js';

export interface QueryIndex {
  /** The id of its design document; null for the documents themselves. */
  readonly ddoc: string | null;
  readonly name: string;
  readonly type: 'json' | 'text' | 'special';
  readonly partitioned: boolean;
  /** The fields, which every document that is in the index has. Of a text index, those that it is asked for by name. */
  readonly columns: readonly string[];
  readonly directions: readonly Direction[];
  /** Which documents are in the index; undefined for all that have the fields. */
  readonly partialFilter: Readonly<Record<string, unknown>> | undefined;
  /** Of a text index: what it has, and the same as its design document says it. */
  readonly text?: { readonly definition: TextDefinition; readonly source: JsonObject };
}

export const primaryIndex: QueryIndex = {
  ddoc: null,
  name: '_all_docs',
  type: 'special',
  partitioned: false,
  columns: ['_id'],
  directions: ['asc'],
  partialFilter: undefined,
};

export const queryLanguage = 'query';

/** The indexes of a design document; malformed ones are ignored. */
export function indexesOf(ddoc: string, doc: JsonObject, isPartitioned: boolean): QueryIndex[] {
  if (doc['language'] !== queryLanguage) return [];
  const inPartitions = isPartitioned && objectOf(doc['options'])['partitioned'] !== false;
  return [...jsonIndexes(ddoc, doc, inPartitions), ...textIndexes(ddoc, doc, inPartitions)];
}

function jsonIndexes(ddoc: string, doc: JsonObject, partitioned: boolean): QueryIndex[] {
  return Object.entries(objectOf(doc['views'])).flatMap(([name, view]) => {
    // A view without options is no index in CouchDB either: it is queried as a view alone.
    const definition = isObject(objectOf(view)['options']) ? indexDefinition(objectOf(view)) : undefined;
    if (definition === undefined) return [];
    const { fields, partialFilter } = definition;
    const index: QueryIndex = {
      ddoc,
      name,
      type: 'json',
      partitioned,
      columns: fields.map(([field]) => field),
      directions: fields.map(([, direction]) => direction),
      partialFilter,
    };
    return [index];
  });
}

function textIndexes(ddoc: string, doc: JsonObject, partitioned: boolean): QueryIndex[] {
  return Object.entries(objectOf(doc['indexes'])).flatMap(([name, index]) => {
    const definition = textDefinition(index);
    if (definition === undefined) return [];
    const source = objectOf(objectOf(index)['index']);
    const columns = (definition.fields ?? []).map((field) => `${field.name}:${field.type}`);
    const { partialFilter } = definition;
    return [
      {
        ddoc,
        name,
        type: 'text',
        partitioned,
        columns,
        directions: [],
        partialFilter,
        text: { definition, source },
      },
    ];
  });
}

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** As `_index` and `_explain` show it. */
export function indexJson(index: QueryIndex): JsonObject {
  const { ddoc, name, type, partitioned, columns, directions, partialFilter, text } = index;
  if (text !== undefined) return { ddoc, name, type, partitioned, def: textJson(text.source) };
  const fields = columns.map((column, at) => Object.fromEntries([[column, directions[at]]]));
  return {
    ddoc,
    name,
    type,
    ...(type === 'special' ? {} : { partitioned }),
    def: { fields, ...(partialFilter === undefined ? {} : { partial_filter_selector: partialFilter }) },
  };
}

/** Fields are shown as those of other indexes are, and a filter only where there is one. */
function textJson(source: JsonObject): JsonObject {
  const { fields, partial_filter_selector: filter } = source;
  const listed = Array.isArray(fields) ? fields.filter(isTextField) : [];
  const rest = Object.entries(source).filter(
    ([name]) => name !== 'partial_filter_selector' || Object.keys(objectOf(filter)).length > 0,
  );
  return {
    ...Object.fromEntries(rest),
    fields: listed.map(({ name, type }) => Object.fromEntries([[name, type]])),
  };
}
