import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const client = await startServer({
  dataDir: temporaryFolder(),
  // Events of databases are documents too, and would be counted.
  config: { global_changes: { max_write_delay: '60000' } },
});

type Tree = { [name: string]: Tree } & { value?: unknown };

/** What the counters at these paths of `_stats` have grown by during some work. */
async function growth(work: () => Promise<unknown>, ...paths: string[]): Promise<number[]> {
  const before = await stats();
  await work();
  const after = await stats();
  return paths.map((path) => after(path) - before(path));
}

/** The value of a counter, or the number of observations of a histogram. */
async function stats(): Promise<(path: string) => number> {
  const tree = (await client.get('/_node/_local/_stats')).body as Tree;
  return (path) => {
    const found = path.split('/').reduce<Tree | undefined>((parent, name) => parent?.[name], tree);
    const value = found?.value;
    return typeof value === 'number' ? value : ((value as { n?: number } | undefined)?.n ?? NaN);
  };
}

test('writes are counted by what they did', async () => {
  const db = await newDb(client);
  const { body } = await client.put(`${db}/a`, {});
  const work = async (): Promise<void> => {
    await client.put(`${db}/a`, { _rev: body.rev });
    await client.put(`${db}/a`, {}); // A conflict writes nothing.
    await client.post(`${db}/_bulk_docs`, { docs: [{ _id: 'b' }, { _id: 'c' }, { _id: 'a' }] });
    const docs = [{ _id: 'd', _rev: '7-abc' }];
    await client.post(`${db}/_bulk_docs`, { docs, new_edits: false });
    await client.put(`${db}/_local/x`, {});
  };
  const grown = await growth(
    work,
    'couchdb/document_writes',
    'couchdb/document_inserts',
    'couchdb/local_document_writes',
    'couchdb/httpd/bulk_requests',
    'couchdb/httpd/bulk_docs',
  );
  assert.deepEqual(grown, [4, 3, 1, 2, 2]);
});

test('commits are counted and timed', async () => {
  const db = await newDb(client);
  const [commits, writes, fsyncs, times] = await growth(
    () => client.put(`${db}/a`, {}),
    'couchdb/commits',
    'couchdb/database_writes',
    'fsync/count',
    'fsync/time',
  );
  assert.ok(commits! >= 1 && fsyncs === commits && times === commits, `${commits} ${fsyncs} ${times}`);
  assert.equal(writes, 1);
});

test('purges are counted', async () => {
  const db = await newDb(client);
  const { body } = await client.put(`${db}/a`, {});
  const grown = await growth(
    () => client.post(`${db}/_purge`, { a: [body.rev] }),
    'couchdb/httpd/purge_requests',
    'couchdb/document_purges/total',
    'couchdb/document_purges/success',
    'couchdb/document_purges/failure',
  );
  assert.deepEqual(grown, [1, 1, 1, 0]);
});

test('Mango queries are counted with what they cost', async () => {
  const db = await newDb(client);
  await client.post(`${db}/_bulk_docs`, { docs: Array.from({ length: 12 }, (_, n) => ({ n })) });
  await client.post(`${db}/_index`, { index: { fields: ['n'] }, ddoc: 'byN' });
  const work = async (): Promise<void> => {
    await client.post(`${db}/_find`, { selector: { n: { $gt: 9 } } });
    await client.post(`${db}/_find`, { selector: { other: 1 }, use_index: 'nope' });
  };
  const grown = await growth(
    work,
    'mango/unindexed_queries',
    'mango/query_invalid_index',
    'mango/too_many_docs_scanned',
    'mango/results_returned',
    'mango/query_time',
  );
  assert.deepEqual(grown, [1, 1, 1, 2, 2]);
  const [keys, docs] = await growth(
    () => client.post(`${db}/_find`, { selector: { n: { $gt: 9 } } }),
    'mango/keys_examined',
    'mango/docs_examined',
  );
  assert.deepEqual([keys, docs], [2, 2]);
});

test('functions are counted by what they are called for', async () => {
  const db = await newDb(client);
  const validate = 'function (doc) { if (doc.bad) throw { forbidden: "no" } }';
  const filters = { f: 'function (doc) { return doc.x === 1 }' };
  // A function that has to run in the sandbox.
  const map = 'function (doc) { var i = 0; while (i < 2) { emit(doc._id, i); i++ } }';
  await client.put(`${db}/_design/d`, { validate_doc_update: validate, filters, views: { v: { map } } });
  const work = async (): Promise<void> => {
    await client.post(`${db}/_bulk_docs`, { docs: [{ bad: true }, { bad: false }] });
    await client.get(`${db}/_changes?filter=d/f`);
    await client.get(`${db}/_design/d/_view/v`);
  };
  const [rejects, validations, filterCalls, maps, mapped, mapTime, misses] = await growth(
    work,
    'couchdb/query_server/vdu_rejects',
    'couchdb/query_server/vdu_process_time',
    'couchdb/query_server/calls/ddoc_filter',
    'couchdb/query_server/calls/map',
    'couchdb/mrview/map_doc',
    'couchdb/query_server/time/map',
    'ddoc_cache/miss',
  );
  assert.deepEqual([rejects, validations, filterCalls, mapped], [1, 1, 1, 1]);
  assert.ok(maps! >= 1 && mapTime! > 0, `${maps} calls in ${mapTime} µs`);
  assert.ok(misses! >= 1, String(misses));
  const [hits] = await growth(() => client.get(`${db}/_changes?filter=d/f`), 'ddoc_cache/hit');
  assert.equal(hits, 1);
});

test('replications are counted with their requests and checkpoints', async () => {
  const db = await newDb(client);
  await client.put(`${db}/a`, {});
  const source = `${client.urlWithCredentials}${db}`;
  const target = `${client.urlWithCredentials}${await newDb(client)}`;
  const [requests, answers, checkpoints, failures] = await growth(
    () => client.post('/_replicate', { source, target }),
    'couch_replicator/requests',
    'couch_replicator/responses/success',
    'couch_replicator/checkpoints/success',
    'couch_replicator/failed_starts',
  );
  assert.ok(requests! > 3 && answers === requests, `${answers} answers to ${requests} requests`);
  assert.deepEqual([checkpoints, failures], [1, 0]);
  const [failed, states] = await growth(
    () => client.post('/_replicate', { source: `${client.urlWithCredentials}/none`, target }),
    'couch_replicator/failed_starts',
    'couch_replicator/docs/failed_state_updates',
  );
  assert.deepEqual([failed, states], [1, 0]);
});

test('messages of the log are counted by their level', async () => {
  await client.put('/_node/_local/_config/log/level', 'notice');
  const [notices, infos] = await growth(
    () => client.put('/_node/_local/_config/mango/default_limit', '30'),
    'couch_log/level/notice',
    'couch_log/level/info',
  );
  await client.put('/_node/_local/_config/log/level', 'none');
  assert.deepEqual([notices, infos], [1, 0]);
});

test('queries of partitions are counted', async () => {
  const db = await newDb(client, '?partitioned=true');
  const grown = await growth(
    async () => {
      await client.post(`${db}/_partition/a/_find`, { selector: {} });
      await client.post(`${db}/_partition/a/_explain`, { selector: {} });
    },
    'couchdb/httpd/partition_find_requests',
    'couchdb/httpd/partition_explain_requests',
    'mango/query_time',
  );
  assert.deepEqual(grown, [1, 1, 1]);
});

test('the same figures have the names under which CouchDB shows them to Prometheus', async () => {
  const { text } = await client.get('/_node/_local/_prometheus');
  const given = new Map(
    text
      .split('\n')
      .filter((line) => line.startsWith('# TYPE '))
      .map((line) => line.split(' ').slice(2) as [string, string]),
  );
  const wanted = {
    counter: [
      'auth_cache_requests_total',
      'commits_total',
      'couch_log_requests_total',
      'couch_replicator_checkpoints_failure_total',
      'couch_replicator_checkpoints_total',
      'couch_replicator_requests_total',
      'couch_replicator_responses_total',
      'ddoc_cache_requests_failures_total',
      'ddoc_cache_requests_total',
      'document_inserts_total',
      'document_purges_total',
      'document_purges_success_total',
      'fsync_count_total',
      'mango_unindexed_queries_total',
      'mrview_map_doc_total',
      'query_server_calls_map_total',
      'query_server_vdu_rejects_total',
    ],
    gauge: ['membership', 'open_databases', 'httpd_clients_requesting_changes'],
    summary: ['dbinfo_seconds', 'fsync_time_seconds', 'mango_query_time_seconds', 'request_time_seconds'],
  };
  for (const [type, names] of Object.entries(wanted))
    for (const name of names) assert.equal(given.get(`couchdb_${name}`), type, name);
});
