import type { DatabaseRegistry } from '../node/database-registry.js';
import type { MemoryBudgets } from './connection/memory-budgets.js';
import { Counter, Gauge, Registry } from 'prom-client';
import { STATUS_CODES } from 'node:http';
import { nodeGauges } from './node-gauges.js';

const methods = ['COPY', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'];
/** Clients may make up methods: those that no route has are counted together. */
const otherMethods = 'other';
const codes = [
  200, 201, 202, 204, 206, 301, 304, 400, 401, 403, 404, 405, 406, 409, 412, 413, 414, 415, 416, 417, 500,
  501, 503,
];
const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * What the server counts: for `_prometheus` through prom-client, and for `_stats` in the shape CouchDB's dashboards
 * read. Plain numbers are kept on the way of a request; they are handed over when somebody looks.
 */
export class Metrics {
  readonly #byMethod = new Map<string, number>([...methods, otherMethods].map((method) => [method, 0]));
  /** By the status itself; those that have not been answered yet are 0 or absent. */
  readonly #byStatus: number[] = [];
  readonly #registry = new Registry();
  /** Requests in each of the histogram's buckets, and those beyond the last. */
  readonly #timeCounts = new Float64Array(secondsBuckets.length + 1);
  #timeSum = 0;
  #requests = 0;
  #times: number[] = [];
  documentReads = 0;
  documentWrites = 0;
  bulkRequests = 0;
  /** Feeds that are open. */
  feeds = 0;

  constructor(budgets: MemoryBudgets, node: () => DatabaseRegistry) {
    nodeGauges(this.#registry, node);
    const each = Object.entries({ bodies: budgets.bodies, answers: budgets.answers });
    this.#collected('tuffet_memory_waits_total', 'how often a body or an answer found no room at once', () =>
      each.map(([budget, { waits }]) => [{ budget }, waits]),
    );
    new Gauge({
      name: 'tuffet_memory_held_bytes',
      help: 'bytes of large request bodies and answers held in memory',
      labelNames: ['budget'],
      registers: [this.#registry],
      collect() {
        for (const [budget, { used }] of each) this.set({ budget }, used);
      },
    });
    this.#collected('couchdb_httpd_requests_total', 'number of HTTP requests', () => [[{}, this.#requests]]);
    this.#collected('couchdb_httpd_request_methods', 'number of HTTP requests by method', () =>
      [...this.#byMethod].map(([method, count]) => [{ method }, count]),
    );
    this.#collected('couchdb_httpd_status_codes', 'number of HTTP answers by status', () =>
      this.#statuses().map(([code, count]) => [{ code: String(code) }, count]),
    );
    this.#collected('couchdb_document_writes_total', 'number of documents written', () => [
      [{}, this.documentWrites],
    ]);
    this.#collected('couchdb_database_reads_total', 'number of documents read', () => [
      [{}, this.documentReads],
    ]);
    const feeds = (): number => this.feeds;
    new Gauge({
      name: 'couchdb_httpd_clients_requesting_changes',
      help: 'number of open feeds',
      registers: [this.#registry],
      collect() {
        this.set(feeds());
      },
    });
    const memory = {
      name: 'couchdb_memory_resident_bytes',
      help: 'resident memory',
      registers: [this.#registry],
    };
    new Gauge({
      ...memory,
      collect() {
        this.set(process.memoryUsage.rss());
      },
    });
    new Gauge({
      name: 'couchdb_uptime_seconds',
      help: 'time since the start',
      registers: [this.#registry],
      collect() {
        this.set(process.uptime());
      },
    });
  }

  request(method: string, status: number, milliseconds: number): void {
    this.#requests++;
    const known = this.#byMethod.has(method) ? method : otherMethods;
    this.#byMethod.set(known, this.#byMethod.get(known)! + 1);
    this.#byStatus[status] = (this.#byStatus[status] ?? 0) + 1;
    if (this.#times.length < timesMax) this.#times.push(milliseconds);
    else this.#times[this.#requests % timesMax] = milliseconds;
    const seconds = milliseconds / 1000;
    let bucket = 0;
    while (bucket < secondsBuckets.length && seconds > secondsBuckets[bucket]!) bucket++;
    this.#timeCounts[bucket]!++;
    this.#timeSum += seconds;
  }

  async prometheus(): Promise<string> {
    return `${await this.#registry.metrics()}\n${this.#timeLines()}`;
  }

  /** The library's own histogram costs more for one request than all the rest that is counted: this one is an array. */
  #timeLines(): string {
    const name = 'couchdb_request_time_seconds';
    const lines = [`# HELP ${name} duration of requests`, `# TYPE ${name} histogram`];
    let total = 0;
    for (const [i, le] of [...secondsBuckets, '+Inf'].entries()) {
      total += this.#timeCounts[i]!;
      lines.push(`${name}_bucket{le="${le}"} ${total}`);
    }
    return `${lines.join('\n')}\n${name}_sum ${this.#timeSum}\n${name}_count ${total}\n`;
  }

  #statuses(): [code: number, count: number][] {
    const answered = Object.keys(this.#byStatus).map(Number);
    return [...new Set([...codes, ...answered])].map((code) => [code, this.#byStatus[code] ?? 0]);
  }

  /** CouchDB's tree of statistics. */
  stats(): Record<string, unknown> {
    const byMethod = Object.fromEntries(
      [...this.#byMethod].map(([method, count]) => [
        method,
        counter(count, `number of HTTP ${method} requests`),
      ]),
    );
    const byStatus = Object.fromEntries(
      this.#statuses().map(([code, count]) => [
        code,
        counter(count, `number of HTTP ${code} ${STATUS_CODES[code] ?? ''} responses`),
      ]),
    );
    return {
      couchdb: {
        httpd: {
          requests: counter(this.#requests, 'number of HTTP requests'),
          bulk_requests: counter(this.bulkRequests, 'number of bulk requests'),
          clients_requesting_changes: counter(this.feeds, 'number of clients for feeds that go on'),
        },
        httpd_request_methods: byMethod,
        httpd_status_codes: byStatus,
        request_time: {
          value: summary(this.#times),
          type: 'histogram',
          desc: 'length of a request inside the server, in milliseconds',
        },
        database_reads: counter(this.documentReads, 'number of times a document was read from a database'),
        database_writes: counter(this.documentWrites, 'number of times a database was changed'),
      },
    };
  }

  #collected(name: string, help: string, values: () => [Record<string, string>, number][]): void {
    const labelNames = Object.keys(values()[0]?.[0] ?? {});
    new Counter({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [labels, value] of values()) this.inc(labels, value);
      },
    });
  }
}

/** The durations that the summary is made of: the latest so many. */
const timesMax = 1_024;

const counter = (value: number, desc: string): object => ({ value, type: 'counter', desc });

function summary(times: readonly number[]): Record<string, unknown> {
  const sorted = [...times].sort((a, b) => a - b);
  const n = sorted.length;
  const at = (share: number): number => sorted[Math.min(n - 1, Math.floor(share * n))] ?? 0;
  const mean = n === 0 ? 0 : sorted.reduce((sum, each) => sum + each, 0) / n;
  const variance = n === 0 ? 0 : sorted.reduce((sum, each) => sum + (each - mean) ** 2, 0) / n;
  return {
    min: sorted[0] ?? 0,
    max: sorted.at(-1) ?? 0,
    arithmetic_mean: mean,
    median: at(0.5),
    standard_deviation: Math.sqrt(variance),
    variance,
    n,
    percentile: [0.5, 0.75, 0.9, 0.95, 0.99, 0.999].map((share) => [share * 100, at(share)]),
  };
}
