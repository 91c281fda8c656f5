import { STATUS_CODES } from 'node:http';
import type { Logger } from '../../base/logger.js';
import { RecentTimes } from '../../base/recent-times.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { Replicator } from '../../replication/replicator.js';
import type { CallCounts } from '../../script/call-counts.js';
import type { MemoryBudgets } from '../connection/memory-budgets.js';
import { databaseStats, functionStats, logStats, replicatorStats } from './couchdb-stats.js';
import { exposition, single, type Figure } from './figures.js';
import { clusterFigures, memoryFigures, nodeFigures } from './node-figures.js';
import { QueryCounts } from './query-counts.js';
import { RouteTimes } from './route-times.js';
import { counter, histogram, statFigures, statsTree, type Stat } from './stats.js';

const methods = ['COPY', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'];
/** Clients may make up methods: those that no route has are counted together. */
const otherMethods = 'other';
const codes = [
  200, 201, 202, 204, 206, 301, 302, 304, 400, 401, 403, 404, 405, 406, 409, 412, 413, 414, 415, 416, 417,
  500, 501, 503, 507,
];

/** The parts of the server that have figures of their own. */
export interface Measured {
  budgets: MemoryBudgets;
  registry: () => DatabaseRegistry;
  /** Undefined where all is in memory. */
  dataFolder: string | undefined;
  replicator: Pick<Replicator, 'scheduler' | 'counts'>;
  /** Calls of functions. */
  calls: CallCounts;
  logger: Logger;
  credentials: { hits: number; misses: number };
  hasher: { count: number };
}

/** Requests that CouchDB counts by what they ask for, with their routes here. */
const countedRoutes = {
  bulk_requests: ['bulk requests', '/{db}/_bulk_docs'],
  view_reads: [
    'view reads',
    '/{db}/_design/{ddoc}/_view/{view}',
    '/{db}/_design/{ddoc}/_view/{view}/queries',
  ],
  purge_requests: ['purge requests', '/{db}/_purge'],
  partition_view_requests: [
    'view reads of partitions',
    '/{db}/_partition/{partition}/_design/{ddoc}/_view/{view}',
    '/{db}/_partition/{partition}/_design/{ddoc}/_view/{view}/queries',
  ],
  partition_all_docs_requests: [
    '_all_docs of partitions',
    '/{db}/_partition/{partition}/_all_docs',
    '/{db}/_partition/{partition}/_all_docs/queries',
  ],
  partition_find_requests: ['_find in partitions', '/{db}/_partition/{partition}/_find'],
  partition_explain_requests: ['_explain in partitions', '/{db}/_partition/{partition}/_explain'],
} as const satisfies Record<string, readonly [string, ...string[]]>;

/** Requests whose quantiles CouchDB shows, with their methods and routes here. */
const timedRoutes = {
  'couchdb/dbinfo': ['milliseconds to answer with what is known of a database', 'GET /{db}'],
  'mango/query_time': [
    'length of time processing a mango query, in milliseconds',
    'POST /{db}/_find',
    'POST /{db}/_find/*',
    'POST /{db}/_partition/{partition}/_find',
  ],
  'dreyfus/httpd/search': [
    'distribution of overall search request latency, in milliseconds',
    'GET /{db}/_design/{ddoc}/_search/{index}',
    'POST /{db}/_design/{ddoc}/_search/{index}',
  ],
  'nouveau/search_latency': [
    'distribution of overall search request latency, in milliseconds',
    'GET /{db}/_design/{ddoc}/_nouveau/{index}',
    'POST /{db}/_design/{ddoc}/_nouveau/{index}',
  ],
} as const satisfies Record<string, readonly [string, ...string[]]>;

/**
 * What the server counts: for `_prometheus`, and for `_stats` in the shape CouchDB's dashboards read. Requests
 * only update plain numbers; texts are made when they are read.
 */
export class Metrics {
  readonly #byMethod = new Map<string, number>([...methods, otherMethods].map((method) => [method, 0]));
  /** By the status itself; those that have not been answered yet are 0 or absent. */
  readonly #byStatus = new Float64Array(1_000);
  readonly #times = new RecentTimes();
  /** By the paths of `timedRoutes`. */
  readonly #timed = new Map(Object.keys(timedRoutes).map((path) => [path, new RecentTimes()]));
  readonly #routeTimes: RouteTimes;
  readonly #figures: readonly Figure[];
  #requests = 0;
  #aborted = 0;
  documentReads = 0;
  /** Feeds that are open. */
  feeds = 0;
  /** Connections of HTTP/1 that are open. */
  connections = 0;
  readonly queries = new QueryCounts();
  /** How many documents each bulk request had. */
  readonly bulkDocs = new RecentTimes();
  /** Documents of purge requests. */
  readonly purges = { success: 0, failure: 0 };

  constructor(private readonly measured: Measured) {
    const timed = Object.entries(timedRoutes).flatMap(([path, [, ...routes]]) =>
      routes.map((route) => [route, this.#timed.get(path)!] as const),
    );
    this.#routeTimes = new RouteTimes(new Map(timed));
    this.#figures = [
      {
        name: 'tuffet_request_duration_seconds',
        type: 'histogram',
        help: 'duration of requests by route and method; that of a feed is how long it was open',
        samples: () => this.#routeTimes.samples(),
      },
      single('gauge', 'tuffet_connections', 'open connections of HTTP/1', () => this.connections),
      ...nodeFigures(measured.registry, measured.dataFolder),
      ...clusterFigures(() => measured.registry().membership.cluster),
      ...memoryFigures(measured.budgets),
    ];
  }

  request(
    method: string,
    status: number,
    milliseconds: number,
    route: { path: string } | undefined,
    isComplete: boolean,
  ): void {
    this.#requests++;
    const count = this.#byMethod.get(method);
    const known = count === undefined ? otherMethods : method;
    this.#byMethod.set(known, (count ?? this.#byMethod.get(otherMethods)!) + 1);
    this.#byStatus[status]!++;
    if (!isComplete) this.#aborted++;
    this.#times.observe(milliseconds);
    this.#routeTimes.observe(route, known, milliseconds);
  }

  prometheus(): string {
    return exposition([...statFigures(this.#stats()), ...this.#figures]);
  }

  /** CouchDB's tree of statistics, as far as it has a meaning here. */
  stats(): Record<string, unknown> {
    return statsTree(this.#stats());
  }

  #stats(): Stat[] {
    const { replicator, calls, logger } = this.measured;
    const registry = this.measured.registry();
    return [
      ...this.#requestStats(),
      ...this.#authStats(),
      ...databaseStats(registry),
      ...this.#purgeStats(),
      ...this.queries.stats(),
      ...Object.entries(timedRoutes).map(([path, [desc]]) => histogram(path, desc, this.#timed.get(path)!)),
      ...functionStats(calls, registry.designDocs),
      ...replicatorStats(replicator.scheduler, replicator.counts),
      ...logStats(logger),
    ];
  }

  #requestStats(): Stat[] {
    const { feeds } = this;
    return [
      counter('couchdb/httpd/requests', 'number of HTTP requests', this.#requests),
      counter(
        'couchdb/httpd/aborted_requests',
        'number of requests whose answer was not sent to its end',
        this.#aborted,
      ),
      counter('couchdb/httpd/clients_requesting_changes', 'number of clients for feeds that go on', feeds),
      ...Object.entries(countedRoutes).map(([name, [desc, ...paths]]) =>
        counter(`couchdb/httpd/${name}`, `number of ${desc}`, this.#routeTimes.count(...paths)),
      ),
      histogram('couchdb/httpd/bulk_docs', 'number of documents in _bulk_docs requests', this.bulkDocs),
      ...[...this.#byMethod].map(([method, count]) =>
        counter(`couchdb/httpd_request_methods/${method}`, `number of HTTP ${method} requests`, count),
      ),
      ...this.#statuses().map(([code, count]) =>
        counter(
          `couchdb/httpd_status_codes/${code}`,
          `number of HTTP ${code} ${STATUS_CODES[code] ?? ''} responses`,
          count,
        ),
      ),
      histogram(
        'couchdb/request_time',
        'length of a request inside the server, in milliseconds; the quantiles are those of the latest 1024',
        this.#times,
      ),
      counter('couchdb/database_reads', 'number of documents read one by one', this.documentReads),
    ];
  }

  #authStats(): Stat[] {
    const { hits, misses } = this.measured.credentials;
    const { count } = this.measured.hasher;
    return [
      counter('couchdb/auth_cache_hits', 'number of authentication cache hits', hits),
      counter('couchdb/auth_cache_misses', 'number of authentication cache misses', misses),
      counter('couchdb/password_hashing_slow', 'number of slow password hashing operations', count),
    ];
  }

  #purgeStats(): Stat[] {
    const { success, failure } = this.purges;
    return [
      counter(
        'couchdb/document_purges/total',
        'number of total document purge operations',
        success + failure,
      ),
      counter('couchdb/document_purges/success', 'number of successful document purge operations', success),
      counter('couchdb/document_purges/failure', 'number of failed document purge operations', failure),
    ];
  }

  #statuses(): [code: number, count: number][] {
    const answered = [...this.#byStatus.keys()].filter((code) => this.#byStatus[code]! > 0);
    return [...new Set([...codes, ...answered])].map((code) => [code, this.#byStatus[code]!]);
  }
}
