import { createHash } from 'node:crypto';
import { toBytes, type Bytes } from '../base/bytes.js';
import type { AnalyzerDefinition } from '../search/analysis/analyzer.js';
import { builtinFold } from './reduce/builtin.js';
import type { TextDefinition } from './text-definition.js';
import { parseField } from '../selectors/field-path.js';
import { compileSelector } from '../selectors/selector.js';

/** The languages that views can be in: of functions, and of indexes for declarative queries. */
export const viewLanguages: ReadonlySet<string> = new Set(['javascript', 'query']);

/** One view of a design document, checked and ready to be indexed. */
export interface ViewDefinition {
  name: string;
  /**
   * Names the index, in hex: views with the same definition share one, in whichever design document they stand, and a
   * change of one view leaves the others' indexes alone.
   */
  signature: string;
  map: ViewMap;
  reduce: string | undefined;
  /** Byte order in place of the usual collation. */
  raw: boolean;
  /** Whether each partition of the database has its own rows, and is queried alone. */
  partitioned: boolean;
}

/**
 * What makes rows of documents: a function, that of a search index, or the definition of a text index or of the fields of
 * an index for declarative queries.
 */
export type ViewMap =
  | { kind: 'function'; source: string }
  | { kind: 'search'; source: string; analyzer: AnalyzerDefinition; api?: 'nouveau' }
  | { kind: 'text'; definition: TextDefinition }
  | { kind: 'fields'; fields: readonly string[]; partialFilter: unknown };

/** The views of one design document. They see the same documents in the same form. */
export interface DesignViews {
  language: string;
  views: ReadonlyMap<string, ViewDefinition>;
  /** JSON text of `views.lib`. */
  lib: Bytes | undefined;
  /** Documents come with `_local_seq`. */
  localSeq: boolean;
  /** Design documents are indexed too. */
  includeDesign: boolean;
  /** Whether they may be filled without being asked for. */
  autoupdate: boolean;
  /** Of all views together, as `_info` shows it. */
  signature: string;
}

/** All indexes of one design document, by the member that they stand in. */
export interface DesignIndexes {
  views: DesignViews;
  searches: DesignViews;
  nouveau: DesignViews;
}

/** Whether the rows of a view are those of a search. */
export const isSearchMap = ({ kind }: ViewMap): boolean => kind === 'search' || kind === 'text';

/** How the texts of a search are analyzed. */
export function analyzerOf(map: ViewMap): AnalyzerDefinition {
  if (map.kind === 'search') return map.analyzer;
  const ofText = map.kind === 'text' ? map.definition.defaultField : undefined;
  return ofText ?? { name: 'standard' };
}

const icuVersion = process.versions.icu ?? '';

/** Reads what a saved design document says of views; what is not of the right form is not a view. */
export function designViews(
  ddoc: Readonly<Record<string, unknown>>,
  /** Whether the database has partitions; its design documents follow it unless they say otherwise. */
  inPartitions: boolean,
): DesignViews {
  const language = typeof ddoc['language'] === 'string' ? ddoc['language'] : 'javascript';
  const options = objectOf(ddoc['options']);
  const localSeq = options['local_seq'] === true;
  const includeDesign = options['include_design'] === true;
  const partitioned = inPartitions && options['partitioned'] !== false;
  const sources = objectOf(ddoc['views']);
  const lib = Object.hasOwn(sources, 'lib') ? toBytes(JSON.stringify(sources['lib'])) : undefined;
  const shared = [language, lib ?? null, localSeq, includeDesign, partitioned, icuVersion];
  const views = new Map<string, ViewDefinition>();
  for (const [name, source] of Object.entries(sources)) {
    const view = viewOf(name, objectOf(source), language, shared, partitioned);
    if (view !== undefined) views.set(name, view);
  }
  const signature = digest([...views.values()].map((view) => [view.name, view.signature]));
  return { language, views, lib, localSeq, includeDesign, autoupdate: autoupdateOf(ddoc), signature };
}

/** CouchDB takes `false`, and an object with a say for each kind of index. */
export function autoupdateOf(
  ddoc: Readonly<Record<string, unknown>>,
  kind: 'views' | 'indexes' | 'nouveau' = 'views',
): boolean {
  const given = [ddoc['autoupdate'], objectOf(ddoc['options'])['autoupdate']];
  return !given.some((each) => each === false || objectOf(each)[kind] === false);
}

function viewOf(
  name: string,
  source: Readonly<Record<string, unknown>>,
  language: string,
  shared: readonly unknown[],
  partitioned: boolean,
): ViewDefinition | undefined {
  const map = language === 'query' ? fieldsMap(source) : functionMap(source);
  if (map === undefined) return undefined;
  const reduce = typeof source['reduce'] === 'string' ? source['reduce'] : undefined;
  const raw = objectOf(source['options'])['collation'] === 'raw';
  const form = reduce === undefined ? undefined : builtinFold(reduce)?.form;
  const signature = digest([shared, map, reduce ?? null, raw, ...(form === undefined ? [] : [form])]);
  return { name, map, reduce, raw, partitioned, signature };
}

function functionMap(source: Readonly<Record<string, unknown>>): ViewMap | undefined {
  return typeof source['map'] === 'string' ? { kind: 'function', source: source['map'] } : undefined;
}

function fieldsMap(source: Readonly<Record<string, unknown>>): ViewMap | undefined {
  const index = indexDefinition(source);
  if (index === undefined) return undefined;
  const { fields, partialFilter } = index;
  return { kind: 'fields', fields: fields.map(([field]) => field), partialFilter };
}

export interface IndexDefinition {
  /** Fields and their directions. */
  fields: readonly (readonly [string, 'asc' | 'desc'])[];
  /** Undefined where all documents that have the fields are indexed. */
  partialFilter: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The index of declarative queries that a view is; undefined for other views. Its fields are the members of an object, in
 * whose order they count; where names are numbers JavaScript loses it, and the list that the client gave tells it.
 */
export function indexDefinition(source: Readonly<Record<string, unknown>>): IndexDefinition | undefined {
  const { fields, partial_filter_selector: filter } = objectOf(source['map']);
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return undefined;
  const members = Object.entries(fields) as [string, 'asc' | 'desc'][];
  if (!members.every(([, direction]) => direction === 'asc' || direction === 'desc')) return undefined;
  try {
    for (const [field] of members) parseField(field);
    if (filter !== undefined) compileSelector(filter);
  } catch {
    return undefined;
  }
  const listed = objectOf(objectOf(source['options'])['def'])['fields'];
  const names = (Array.isArray(listed) ? listed : []).map((field: unknown) =>
    typeof field === 'string' ? field : Object.keys(objectOf(field))[0],
  );
  const partialFilter = objectOf(filter);
  return {
    fields: members.toSorted(([a], [b]) => names.indexOf(a) - names.indexOf(b)),
    partialFilter: Object.keys(partialFilter).length === 0 ? undefined : partialFilter,
  };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

const digest = (value: unknown): string => createHash('md5').update(JSON.stringify(value)).digest('hex');
