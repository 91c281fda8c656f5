import type { Bytes } from '../base/bytes.js';
import type { NumberReader } from '../search/query/query-numbers.js';
import type { Similarity } from '../search/vectors.js';
import type { Sorting } from './sorting.js';

/** A search as it was asked for, checked. */
export interface SearchRequest {
  /** Undefined where only vectors are searched for. */
  query: string | undefined;
  limit: number;
  /** The order of the last hit of the page before, and its document's number. */
  after: readonly (string | number | null)[] | undefined;
  /** Undefined for relevance. */
  sort: readonly Sorting[];
  includeDocs: boolean;
  /** The stored fields that are shown; undefined for all. */
  includeFields: ReadonlySet<string> | undefined;
  /** Fields whose texts are counted. */
  counts: readonly string[] | undefined;
  /** Ranges of numbers that are counted, by their names, for each field. */
  ranges: Readonly<Record<string, Readonly<Record<string, NumberRange>>>> | undefined;
  /** Each a field and texts, one of which it has to have. */
  drilldown: readonly { field: string; texts: ReadonlySet<string> }[];
  group: Grouping | undefined;
  highlight: Highlighting | undefined;
  /** Whether the index may lack what was changed lately. */
  isStale: boolean;
  partition: Bytes | undefined;
  /** How numbers of the query are written; undefined for a decimal point. */
  readNumber?: NumberReader | undefined;
  /** A vector whose nearest neighbours are looked for. */
  knn: KnnRequest | undefined;
}

export interface KnnRequest {
  field: string;
  vector: readonly number[];
  /** How many neighbours. */
  k: number;
  similarity: Similarity;
}

export interface NumberRange {
  low: number;
  high: number;
  includesLow: boolean;
  includesHigh: boolean;
}

interface Grouping {
  field: string;
  /** Whether the field's values are compared as numbers, where the field says so. */
  limit: number;
  sort: readonly Sorting[];
  /** CouchDB's older parameter `group_by` gives other names to the members of the answer. */
  isOld: boolean;
}

export interface Highlighting {
  fields: readonly string[];
  preTag: string;
  postTag: string;
  /** Pieces of a text, and how long each is. */
  number: number;
  size: number;
}
