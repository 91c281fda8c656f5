import { createHash } from 'node:crypto';
import { toBytes, type Bytes } from '../base/bytes.js';

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
}

/** What makes rows of documents: a function, or the fields of an index for declarative queries. */
export type ViewMap =
  | { kind: 'function'; source: string }
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
  /** Undefined where the design document leaves it to the database. */
  partitioned: boolean | undefined;
  /** Of all views together, as `_info` shows it. */
  signature: string;
}

const icuVersion = process.versions.icu ?? '';

/** Reads what a saved design document says of views; what is not of the right form is not a view. */
export function designViews(ddoc: Readonly<Record<string, unknown>>): DesignViews {
  const language = typeof ddoc['language'] === 'string' ? ddoc['language'] : 'javascript';
  const options = objectOf(ddoc['options']);
  const localSeq = options['local_seq'] === true;
  const includeDesign = options['include_design'] === true;
  const partitioned = typeof options['partitioned'] === 'boolean' ? options['partitioned'] : undefined;
  const sources = objectOf(ddoc['views']);
  const lib = Object.hasOwn(sources, 'lib') ? toBytes(JSON.stringify(sources['lib'])) : undefined;
  const shared = [language, lib ?? null, localSeq, includeDesign, partitioned ?? null, icuVersion];
  const views = new Map<string, ViewDefinition>();
  for (const [name, source] of Object.entries(sources)) {
    const view = name === 'lib' ? undefined : viewOf(name, objectOf(source), language, shared);
    if (view !== undefined) views.set(name, view);
  }
  const signature = digest([...views.values()].map((view) => [view.name, view.signature]));
  return { language, views, lib, localSeq, includeDesign, partitioned, signature };
}

function viewOf(
  name: string,
  source: Readonly<Record<string, unknown>>,
  language: string,
  shared: readonly unknown[],
): ViewDefinition | undefined {
  const map = language === 'query' ? fieldsMap(source) : functionMap(source);
  if (map === undefined) return undefined;
  const reduce = typeof source['reduce'] === 'string' ? source['reduce'] : undefined;
  const raw = objectOf(source['options'])['collation'] === 'raw';
  return { name, map, reduce, raw, signature: digest([shared, map, reduce ?? null, raw]) };
}

function functionMap(source: Readonly<Record<string, unknown>>): ViewMap | undefined {
  return typeof source['map'] === 'string' ? { kind: 'function', source: source['map'] } : undefined;
}

/** As `_index` stores it: the fields in the order of the object's members. */
function fieldsMap(source: Readonly<Record<string, unknown>>): ViewMap | undefined {
  const { fields, partial_filter_selector: partialFilter } = objectOf(source['map']);
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return undefined;
  return { kind: 'fields', fields: Object.keys(fields), partialFilter };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

const digest = (value: unknown): string => createHash('md5').update(JSON.stringify(value)).digest('hex');
