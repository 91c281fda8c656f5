import type { RecentTimes } from '../../base/recent-times.js';
import { histogramMembers, summarySamples } from './durations.js';
import type { Figure, Sample } from './figures.js';

/** One of CouchDB's statistics, as it is now. */
export interface Stat {
  /** Its place in `_stats`, with slashes. */
  path: string;
  type: 'counter' | 'gauge' | 'histogram';
  desc: string;
  /** Milliseconds or other amounts, of a histogram. */
  value: number | readonly RecentTimes[];
}

export const counter = (path: string, desc: string, value: number): Stat => ({
  path,
  type: 'counter',
  desc,
  value,
});

export const histogram = (path: string, desc: string, ...value: readonly RecentTimes[]): Stat => ({
  path,
  type: 'histogram',
  desc,
  value,
});

/** As `_stats` shows them. */
export function statsTree(stats: readonly Stat[]): Record<string, unknown> {
  const tree: Record<string, unknown> = {};
  for (const { path, type, desc, value } of stats) {
    const names = path.split('/');
    const last = names.pop()!;
    let parent = tree;
    for (const name of names) parent = (parent[name] ??= {}) as Record<string, unknown>;
    const shown = typeof value === 'number' ? value : histogramMembers(value);
    parent[last] = { value: shown, type, desc };
  }
  return tree;
}

/** Counters that CouchDB shows to Prometheus as one with a label. */
const families: readonly (Pick<Figure, 'name' | 'help'> & { folder: string; label: string })[] = [
  {
    folder: 'couchdb/httpd_request_methods/',
    name: 'couchdb_httpd_request_methods',
    help: 'number of HTTP requests by method',
    label: 'method',
  },
  {
    folder: 'couchdb/httpd_status_codes/',
    name: 'couchdb_httpd_status_codes',
    help: 'number of HTTP answers by status',
    label: 'code',
  },
  {
    folder: 'couch_log/level/',
    name: 'couchdb_couch_log_requests_total',
    help: 'number of logged messages',
    label: 'level',
  },
];

/** Pairs of counters of which CouchDB shows the sum to Prometheus, and the second. */
const pairs: readonly { good: string; bad: string; total: string; failures: string }[] = [
  {
    good: 'couchdb/auth_cache_hits',
    bad: 'couchdb/auth_cache_misses',
    total: 'auth_cache_requests_total',
    failures: 'auth_cache_misses_total',
  },
  {
    good: 'ddoc_cache/hit',
    bad: 'ddoc_cache/miss',
    total: 'ddoc_cache_requests_total',
    failures: 'ddoc_cache_requests_failures_total',
  },
  ...['checkpoints', 'responses'].map((name) => ({
    good: `couch_replicator/${name}/success`,
    bad: `couch_replicator/${name}/failure`,
    total: `couch_replicator_${name}_total`,
    failures: `couch_replicator_${name}_failure_total`,
  })),
];

/** Counters that go down too, which Prometheus calls gauges. */
const gauges = new Set([
  'couchdb/open_databases',
  'couchdb/open_os_files',
  'couchdb/httpd/clients_requesting_changes',
]);

/** Not durations, as CouchDB would have it. */
const notForPrometheus = new Set(['couchdb/httpd/bulk_docs']);

/** The same for Prometheus, under CouchDB's names. */
export function statFigures(stats: readonly Stat[]): Figure[] {
  const byPath = new Map(stats.map((stat) => [stat.path, stat]));
  const paired = new Set(pairs.flatMap(({ good, bad }) => [good, bad]));
  const inFamily = (path: string): boolean => families.some(({ folder }) => path.startsWith(folder));
  const single = stats.filter(
    ({ path }) => !paired.has(path) && !inFamily(path) && !notForPrometheus.has(path),
  );
  return [
    ...families.map(({ folder, name, help, label }) => {
      const members = stats.filter(({ path }) => path.startsWith(folder));
      const samples = members.map(({ path, value }) => ({
        labels: { [label]: path.slice(folder.length) },
        value: value as number,
      }));
      return figure(name, 'counter', help, samples);
    }),
    ...pairs.flatMap(({ good, bad, total, failures }) => {
      const [well, badly] = [byPath.get(good)!, byPath.get(bad)!];
      const sum = (well.value as number) + (badly.value as number);
      return [
        figure(`couchdb_${total}`, 'counter', `${well.desc}, and of those below`, [{ value: sum }]),
        figure(`couchdb_${failures}`, 'counter', badly.desc, [{ value: badly.value as number }]),
      ];
    }),
    ...single.map(singleFigure),
  ];
}

function singleFigure({ path, type, desc, value }: Stat): Figure {
  const name = `couchdb_${path.replace(/^couchdb\//, '').replaceAll('/', '_')}`;
  if (typeof value !== 'number') return figure(`${name}_seconds`, 'summary', desc, summarySamples(value));
  if (type === 'gauge' || gauges.has(path)) return figure(name, 'gauge', desc, [{ value }]);
  return figure(name.endsWith('_total') ? name : `${name}_total`, 'counter', desc, [{ value }]);
}

const figure = (name: string, type: Figure['type'], help: string, samples: Sample[]): Figure => ({
  name,
  type,
  help,
  samples: () => samples,
});
