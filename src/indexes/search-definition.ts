import { createHash } from 'node:crypto';
import { toBytes } from '../base/bytes.js';
import { nouveauAnalyzer, readAnalyzer } from '../search/analysis/analyzer.js';
import { autoupdateOf, type DesignViews, type ViewDefinition, type ViewMap } from './definition.js';
import { textDefinition } from './text-definition.js';

/** Counts up when rows of the same definition become others. */
const rowsVersion = 2;

/** The search indexes of a design document, in the form of its views: they are filled in the same way. */
export const designSearches = (ddoc: Ddoc, inPartitions: boolean): DesignViews =>
  readDesign(ddoc, inPartitions, 'indexes', (source, language) =>
    language === 'query' ? textMap(source) : functionMap(objectOf(source)),
  );

/** Those that stand in the member of CouchDB's newer interface. */
export const designNouveau = (ddoc: Ddoc, inPartitions: boolean): DesignViews =>
  readDesign(ddoc, inPartitions, 'nouveau', (source) => nouveauMap(objectOf(source)));

type Ddoc = Readonly<Record<string, unknown>>;

function readDesign(
  ddoc: Ddoc,
  inPartitions: boolean,
  member: 'indexes' | 'nouveau',
  mapOf: (source: unknown, language: string) => ViewMap | undefined,
): DesignViews {
  const language = typeof ddoc['language'] === 'string' ? ddoc['language'] : 'javascript';
  const partitioned = inPartitions && objectOf(ddoc['options'])['partitioned'] !== false;
  const sources = objectOf(ddoc['views']);
  const lib = Object.hasOwn(sources, 'lib') ? toBytes(JSON.stringify(sources['lib'])) : undefined;
  const shared = [rowsVersion, language, lib ?? null, partitioned, process.versions.icu];
  const views = new Map<string, ViewDefinition>();
  for (const [name, source] of Object.entries(objectOf(ddoc[member]))) {
    const map = mapOf(source, language);
    if (map === undefined) continue;
    const signature = digest(['search', shared, map]);
    views.set(name, { name, signature, map, reduce: undefined, raw: true, partitioned });
  }
  const signature = digest([...views.values()].map((view) => [view.name, view.signature]));
  return {
    language,
    views,
    lib,
    localSeq: false,
    includeDesign: false,
    autoupdate: autoupdateOf(ddoc, member),
    signature,
  };
}

function functionMap({ index, analyzer }: Readonly<Record<string, unknown>>): ViewMap | undefined {
  const read = readAnalyzer(analyzer);
  if (typeof index !== 'string' || read === undefined) return undefined;
  return { kind: 'search', source: index, analyzer: read };
}

function nouveauMap({ index, ...given }: Readonly<Record<string, unknown>>): ViewMap | undefined {
  if (typeof index !== 'string') return undefined;
  const fields = Object.entries(objectOf(given['field_analyzers']));
  const analyzer = readAnalyzer({
    name: 'perfield',
    default: nouveauAnalyzer(given['default_analyzer']),
    fields: Object.fromEntries(fields.map(([field, name]) => [field, nouveauAnalyzer(name)])),
  });
  return analyzer && { kind: 'search', source: index, analyzer, api: 'nouveau' };
}

function textMap(source: unknown): ViewMap | undefined {
  const definition = textDefinition(source);
  return definition && { kind: 'text', definition };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

const digest = (value: unknown): string => createHash('md5').update(JSON.stringify(value)).digest('hex');
