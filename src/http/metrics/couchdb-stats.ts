import fs from 'node:fs';
import type { Logger } from '../../base/logger.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { JobScheduler } from '../../replication/job-scheduler.js';
import type { ReplicatorCounts } from '../../replication/replicator-counts.js';
import type { CallCounts } from '../../script/call-counts.js';
import { counter, histogram, type Stat } from './stats.js';

/** What is written and read, and the state of databases. */
export function databaseStats(registry: DatabaseRegistry): Stat[] {
  const { activity, openDatabases } = registry;
  const commits = registry.volumes().map(({ commitTimes }) => commitTimes);
  const committed = commits.reduce((sum, { count }) => sum + count, 0);
  return [
    counter('couchdb/open_databases', 'number of open databases', openDatabases.size),
    counter('couchdb/database_writes', 'number of commits that changed a database', activity.databaseWrites),
    counter('couchdb/document_writes', 'number of document write operations', activity.documentWrites),
    counter('couchdb/document_inserts', 'number of documents inserted', activity.documentInserts),
    counter(
      'couchdb/local_document_writes',
      'number of _local document write operations',
      activity.localDocumentWrites,
    ),
    counter('couchdb/commits', 'number of commits performed', committed),
    counter('fsync/count', 'number of commits that were made durable', committed),
    histogram('fsync/time', 'milliseconds until a commit is on disk', ...commits),
    ...openFiles().map((value) =>
      counter('couchdb/open_os_files', 'number of file descriptors the server has open', value),
    ),
  ];
}

/** Nothing where the system does not tell. */
function openFiles(): number[] {
  try {
    return [fs.readdirSync('/proc/self/fd').length];
  } catch {
    return [];
  }
}

/** Functions of design documents. */
export function functionStats(calls: CallCounts, designDocs: { hits: number; misses: number }): Stat[] {
  const kinds = Object.entries(calls.calls) as [keyof CallCounts['calls'], number][];
  return [
    counter('ddoc_cache/hit', 'number of design doc cache hits', designDocs.hits),
    counter('ddoc_cache/miss', 'number of design doc cache misses', designDocs.misses),
    counter('couchdb/mrview/map_doc', 'number of documents given to map functions', calls.mappedDocs),
    counter(
      'couchdb/query_server/vdu_rejects',
      'number of rejections by validate_doc_update function',
      calls.rejections,
    ),
    histogram(
      'couchdb/query_server/vdu_process_time',
      'milliseconds of validate_doc_update function calls',
      calls.validations,
    ),
    counter(
      'couchdb/query_server/process_errors',
      'number of calls that ended with their thread',
      calls.errors,
    ),
    ...kinds.flatMap(([kind, count]) => [
      counter(`couchdb/query_server/calls/${kind}`, `number of ${kind} requests`, count),
      counter(
        `couchdb/query_server/time/${kind}`,
        `accumulated number of microseconds spent processing ${kind} requests`,
        Math.round(calls.time[kind] * 1000),
      ),
    ]),
  ];
}

export function replicatorStats(jobs: JobScheduler, counts: ReplicatorCounts): Stat[] {
  const { total, running, pending, crashing } = jobs.states();
  const gauge = (name: string, desc: string, value: number): Stat => ({
    path: `couch_replicator/jobs/${name}`,
    type: 'gauge',
    desc,
    value,
  });
  const results = (['success', 'failure'] as const).flatMap((result) => [
    counter(
      `couch_replicator/checkpoints/${result}`,
      result === 'success' ? 'number of checkpoints saved' : 'number of failed checkpoint saves',
      counts.checkpoints[result],
    ),
    counter(
      `couch_replicator/responses/${result}`,
      `number of HTTP responses received by the replicator: ${result}`,
      counts.responses[result],
    ),
  ]);
  return [
    gauge('total', 'total number of replications', total),
    gauge('running', 'number of running replications', running),
    gauge('pending', 'number of replications that wait', pending),
    gauge('crashed', 'number of replications that failed and are tried again', crashing),
    ...Object.entries(jobs.counts).map(([name, count]) =>
      counter(`couch_replicator/jobs/${name}`, `number of ${name} of replications`, count),
    ),
    ...results,
    counter('couch_replicator/requests', 'number of HTTP requests made by the replicator', counts.requests),
    counter(
      'couch_replicator/failed_starts',
      'number of replications that have failed to start',
      counts.failed_starts,
    ),
    ...Object.entries(counts.docs).map(([name, count]) =>
      counter(
        `couch_replicator/docs/${name}`,
        `number of '${name.split('_')[0]}' state document updates`,
        count,
      ),
    ),
  ];
}

/** Nothing for a logger that does not count. */
export const logStats = ({ counts = new Map<string, number>() }: Logger): Stat[] =>
  [...counts].map(([level, count]) =>
    counter(`couch_log/level/${level}`, `number of logged ${level} messages`, count),
  );
