import { STATUS_CODES } from 'node:http';
import type { JobScheduler } from '../../replication/job-scheduler.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { MemoryBudgets } from '../connection/memory-budgets.js';
import { Summary } from './durations.js';
import { exposition, labelled, single, type Figure } from './figures.js';
import { memoryFigures, nodeFigures, replicationFigures } from './node-figures.js';
import { RouteTimes } from './route-times.js';

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
  jobs: JobScheduler;
  credentials: { hits: number; misses: number };
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
  ],
  partition_all_docs_requests: ['_all_docs of partitions', '/{db}/_partition/{partition}/_all_docs'],
  partition_find_requests: ['_find in partitions', '/{db}/_partition/{partition}/_find/*'],
  partition_explain_requests: ['_explain in partitions', '/{db}/_partition/{partition}/_explain/*'],
} as const satisfies Record<string, readonly [string, ...string[]]>;

type CountedRoutes = [name: string, desc: string, count: number];

/**
 * What the server counts: for `_prometheus`, and for `_stats` in the shape CouchDB's dashboards read. Plain numbers are
 * kept on the way of a request; texts are made when somebody looks.
 */
export class Metrics {
  readonly #byMethod = new Map<string, number>([...methods, otherMethods].map((method) => [method, 0]));
  /** By the status itself; those that have not been answered yet are 0 or absent. */
  readonly #byStatus: number[] = [];
  readonly #times = new Summary();
  readonly #routeTimes = new RouteTimes();
  readonly #figures: readonly Figure[];
  #requests = 0;
  #aborted = 0;
  documentReads = 0;
  documentWrites = 0;
  /** Feeds that are open. */
  feeds = 0;
  /** Connections of HTTP/1 that are open. */
  connections = 0;

  constructor(private readonly measured: Measured) {
    this.#figures = [
      ...this.#requestFigures(),
      ...this.#workFigures(),
      ...nodeFigures(measured.registry, measured.dataFolder),
      ...replicationFigures(measured.jobs),
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
    const known = this.#byMethod.has(method) ? method : otherMethods;
    this.#byMethod.set(known, this.#byMethod.get(known)! + 1);
    this.#byStatus[status] = (this.#byStatus[status] ?? 0) + 1;
    if (!isComplete) this.#aborted++;
    this.#times.observe(milliseconds);
    this.#routeTimes.observe(route, known, milliseconds / 1000);
  }

  prometheus(): string {
    return exposition(this.#figures);
  }

  #requestFigures(): Figure[] {
    return [
      single('counter', 'couchdb_httpd_requests_total', 'number of HTTP requests', () => this.#requests),
      single(
        'counter',
        'couchdb_httpd_aborted_requests_total',
        'number of requests whose answer was not sent to its end',
        () => this.#aborted,
      ),
      labelled(
        'counter',
        'couchdb_httpd_request_methods',
        'number of HTTP requests by method',
        'method',
        () => this.#byMethod,
      ),
      labelled('counter', 'couchdb_httpd_status_codes', 'number of HTTP answers by status', 'code', () =>
        this.#statuses().map(([code, count]) => [String(code), count]),
      ),
      {
        name: 'couchdb_request_time_seconds',
        type: 'summary',
        help: 'duration of requests; the quantiles are those of the latest 1024',
        samples: () => this.#times.samples(),
      },
      {
        name: 'tuffet_request_duration_seconds',
        type: 'histogram',
        help: 'duration of requests by route and method; that of a feed is how long it was open',
        samples: () => this.#routeTimes.samples(),
      },
      ...this.#counted().map(([name, desc], i) =>
        single('counter', `couchdb_httpd_${name}_total`, `number of ${desc}`, () => this.#counted()[i]![2]),
      ),
    ];
  }

  #workFigures(): Figure[] {
    const { credentials } = this.measured;
    return [
      single(
        'counter',
        'couchdb_document_writes_total',
        'number of documents written',
        () => this.documentWrites,
      ),
      single(
        'counter',
        'couchdb_database_writes_total',
        'number of times a database was changed',
        () => this.documentWrites,
      ),
      single('counter', 'couchdb_database_reads_total', 'number of documents read', () => this.documentReads),
      single('gauge', 'couchdb_httpd_clients_requesting_changes', 'number of open feeds', () => this.feeds),
      single('gauge', 'tuffet_connections', 'open connections of HTTP/1', () => this.connections),
      single(
        'counter',
        'couchdb_auth_cache_requests_total',
        'credentials looked up among those verified before',
        () => credentials.hits + credentials.misses,
      ),
      single(
        'counter',
        'couchdb_auth_cache_misses_total',
        'credentials that had to be verified',
        () => credentials.misses,
      ),
    ];
  }

  #counted(): CountedRoutes[] {
    return Object.entries(countedRoutes).map(([name, [desc, ...paths]]) => [
      name,
      desc,
      this.#routeTimes.count(...paths),
    ]);
  }

  #statuses(): [code: number, count: number][] {
    const answered = Object.keys(this.#byStatus).map(Number);
    return [...new Set([...codes, ...answered])].map((code) => [code, this.#byStatus[code] ?? 0]);
  }

  /** CouchDB's tree of statistics, as far as it has a meaning here. */
  stats(): Record<string, unknown> {
    const { credentials, jobs, registry } = this.measured;
    return {
      couchdb: {
        httpd: {
          requests: counter(this.#requests, 'number of HTTP requests'),
          aborted_requests: counter(this.#aborted, 'number of requests whose answer was not sent to its end'),
          clients_requesting_changes: counter(this.feeds, 'number of clients for feeds that go on'),
          ...Object.fromEntries(
            this.#counted().map(([name, desc, count]) => [name, counter(count, `number of ${desc}`)]),
          ),
        },
        httpd_request_methods: countersOf(this.#byMethod, (method) => `number of HTTP ${method} requests`),
        httpd_status_codes: countersOf(
          this.#statuses(),
          (code) => `number of HTTP ${code} ${STATUS_CODES[code] ?? ''} responses`,
        ),
        request_time: {
          value: this.#times.stats(),
          type: 'histogram',
          desc: 'length of a request inside the server, in milliseconds',
        },
        open_databases: counter(registry().openDatabases.size, 'number of open databases'),
        auth_cache_hits: counter(credentials.hits, 'number of authentication cache hits'),
        auth_cache_misses: counter(credentials.misses, 'number of authentication cache misses'),
        database_reads: counter(this.documentReads, 'number of times a document was read from a database'),
        database_writes: counter(this.documentWrites, 'number of times a database was changed'),
        document_writes: counter(this.documentWrites, 'number of document write operations'),
      },
      couch_replicator: { jobs: jobStats(jobs) },
    };
  }
}

function jobStats(jobs: JobScheduler): Record<string, unknown> {
  const { total, running, pending, crashing } = jobs.states();
  const gauge = (value: number, desc: string): object => ({ value, type: 'gauge', desc });
  return {
    total: gauge(total, 'total number of replications'),
    running: gauge(running, 'number of running replications'),
    pending: gauge(pending, 'number of replications that wait'),
    crashed: gauge(crashing, 'number of replications that failed and are tried again'),
    ...countersOf(Object.entries(jobs.counts), (name) => `number of ${name} of replications`),
  };
}

const counter = (value: number, desc: string): object => ({ value, type: 'counter', desc });

function countersOf<Key extends string | number>(
  counts: Iterable<readonly [Key, number]>,
  describe: (key: Key) => string,
): Record<string, unknown> {
  return Object.fromEntries([...counts].map(([key, count]) => [key, counter(count, describe(key))]));
}
