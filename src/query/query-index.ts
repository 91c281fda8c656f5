/**
 * The indexes that queries choose from. The documents in the order of their ids are one, which every database has; the
 * others are views of design documents in the language `query`, as CouchDB stores them.
 */
import { indexDefinition } from '../indexes/definition.js';
import type { Direction } from './sort.js';

export interface QueryIndex {
  /** The id of its design document; null for the documents themselves. */
  readonly ddoc: string | null;
  readonly name: string;
  readonly type: 'json' | 'special';
  readonly partitioned: boolean;
  /** The fields, which every document that is in the index has. */
  readonly columns: readonly string[];
  readonly directions: readonly Direction[];
  /** Which documents are in the index; undefined for all that have the fields. */
  readonly partialFilter: Readonly<Record<string, unknown>> | undefined;
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
  const { partitioned } = objectOf(doc['options']);
  return Object.entries(objectOf(doc['views'])).flatMap(([name, view]) => {
    const definition = indexDefinition(objectOf(view));
    if (definition === undefined) return [];
    const { fields, partialFilter } = definition;
    const index: QueryIndex = {
      ddoc,
      name,
      type: 'json',
      partitioned: isPartitioned && partitioned !== false,
      columns: fields.map(([field]) => field),
      directions: fields.map(([, direction]) => direction),
      partialFilter,
    };
    return [index];
  });
}

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** As `_index` and `_explain` show it. */
export function indexJson(index: QueryIndex): JsonObject {
  const { ddoc, name, type, partitioned, columns, directions, partialFilter } = index;
  const fields = columns.map((column, at) => Object.fromEntries([[column, directions[at]]]));
  return {
    ddoc,
    name,
    type,
    ...(type === 'special' ? {} : { partitioned }),
    def: { fields, ...(partialFilter === undefined ? {} : { partial_filter_selector: partialFilter }) },
  };
}
