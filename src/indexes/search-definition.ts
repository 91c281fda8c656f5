import { createHash } from 'node:crypto';
import { toBytes } from '../base/bytes.js';
import { readAnalyzer } from '../search/analysis/analyzer.js';
import { autoupdateOf, type DesignViews, type ViewDefinition, type ViewMap } from './definition.js';
import { textDefinition } from './text-definition.js';

/** Counts up when rows of the same definition become others. */
const rowsVersion = 2;

/** The search indexes of a design document, in the form of its views: they are filled in the same way. */
export function designSearches(ddoc: Readonly<Record<string, unknown>>, inPartitions: boolean): DesignViews {
  const language = typeof ddoc['language'] === 'string' ? ddoc['language'] : 'javascript';
  const partitioned = inPartitions && objectOf(ddoc['options'])['partitioned'] !== false;
  const sources = objectOf(ddoc['views']);
  const lib = Object.hasOwn(sources, 'lib') ? toBytes(JSON.stringify(sources['lib'])) : undefined;
  const shared = [rowsVersion, language, lib ?? null, partitioned, process.versions.icu];
  const views = new Map<string, ViewDefinition>();
  for (const [name, source] of Object.entries(objectOf(ddoc['indexes']))) {
    const map = language === 'query' ? textMap(source) : functionMap(objectOf(source));
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
    autoupdate: autoupdateOf(ddoc, 'indexes'),
    signature,
  };
}

function functionMap({ index, analyzer }: Readonly<Record<string, unknown>>): ViewMap | undefined {
  const read = readAnalyzer(analyzer);
  if (typeof index !== 'string' || read === undefined) return undefined;
  return { kind: 'search', source: index, analyzer: read };
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
