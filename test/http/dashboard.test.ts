import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const client = await startServer({ dataDir: temporaryFolder() });
await newDb(client);

interface Board {
  panels: { title: string; targets: { expr: string }[] }[];
}

test('every figure of the Grafana board is one that the server gives', async () => {
  const board = JSON.parse(fs.readFileSync('docs/grafana-dashboard.json', 'utf8')) as Board;
  const { text } = await client.get('/_node/_local/_prometheus');
  const given = new Set(text.split('\n').map((line) => /^[a-z_]+/.exec(line)?.[0]));
  const wanted = board.panels.flatMap(({ targets }) =>
    targets.flatMap(({ expr }) => expr.match(/\b(?:couchdb|tuffet|process)_[a-z_]+/g) ?? []),
  );
  assert.ok(wanted.length > 10);
  assert.deepEqual(
    wanted.filter((name) => !given.has(name)),
    [],
  );
});

/** All that the server measures, by name and labels. */
async function figures(): Promise<(name: string) => number> {
  const { text } = await client.get('/_node/_local/_prometheus');
  const values = new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        // Prometheus refuses the whole page for one line of another form.
        assert.match(line, /^[a-z_]+(?:\{[a-z_]+="[^"\n]*"(?:,[a-z_]+="[^"\n]*")*\})? [-+.\dInfe]+$/);
        const space = line.lastIndexOf(' ');
        return [line.slice(0, space), Number(line.slice(space + 1))] as const;
      }),
  );
  return (name) => values.get(name) ?? NaN;
}

test('figures of volumes, tasks, heap and event loop are plausible', async () => {
  const value = await figures();
  assert.ok(value('tuffet_volume_file_bytes{volume="0"}') >= value('tuffet_volume_used_bytes{volume="0"}'));
  assert.ok(value('tuffet_volume_used_bytes{volume="0"}') > 0);
  assert.equal(value('tuffet_active_tasks{type="indexer"}'), 0);
  assert.ok(value('tuffet_heap_used_bytes') > 1_000_000);
  assert.ok(value('process_resident_memory_bytes') > value('tuffet_heap_used_bytes'));
  assert.ok(value('tuffet_disk_free_bytes') > 0);
  assert.ok(value('tuffet_connections') > 0);
  const busy = value('tuffet_event_loop_utilization');
  assert.ok(busy >= 0 && busy <= 1, String(busy));
});

test('every request is counted by its route and method, and hostile paths make no labels', async () => {
  const db = await newDb(client);
  const before = await figures();
  for (const path of [`${db}/a"b`, `${db}/c%0Ad`, `${db}/_design/"x/_view/"y`, '/_nope', '/%zz', `${db}/"`]) {
    await client.get(path);
  }
  await client.send('PATCH', db);
  const after = await figures();
  const counted = (labels: string): number => {
    const name = `tuffet_request_duration_seconds_count{${labels}}`;
    return after(name) - (before(name) || 0);
  };
  assert.equal(counted('route="/{db}/{docid}",method="GET"'), 3);
  assert.equal(counted('route="/{db}/_design/{ddoc}/_view/{view}",method="GET"'), 1);
  assert.equal(counted('route="/{db}",method="other"'), 1);
  const buckets = 'tuffet_request_duration_seconds_bucket{route="/{db}/{docid}",method="GET",le=';
  assert.ok(after(`${buckets}"+Inf"}`) >= 3);
  assert.ok(after(`${buckets}"10"}`) <= after(`${buckets}"+Inf"}`));
  const views = 'couchdb_httpd_view_reads_total';
  assert.equal(after(views) - before(views), 1);
});

test('indexes and replications have figures', async () => {
  const db = await newDb(client);
  await client.put(`${db}/a`, {});
  await client.put(`${db}/_design/d`, { views: { v: { map: 'function (doc) { emit(doc._id, 1) }' } } });
  await client.get(`${db}/_design/d/_view/v`);
  const before = await figures();
  assert.ok(before('tuffet_index_used_bytes') > 0);
  assert.ok(before('tuffet_index_file_bytes') >= before('tuffet_index_used_bytes'));
  const source = `${client.urlWithCredentials}${db}`;
  const target = `${client.urlWithCredentials}${await newDb(client)}`;
  assert.equal((await client.post('/_replicate', { source, target })).status, 200);
  const after = await figures();
  const grown = (name: string): number => after(name) - before(name);
  for (const event of ['adds', 'starts', 'removes'])
    assert.equal(grown(`couchdb_couch_replicator_jobs_${event}_total`), 1, event);
  assert.equal(after('couchdb_couch_replicator_jobs_running'), 0);
});

test('_stats has the members that monitoring of CouchDB reads', async () => {
  const { body } = await client.get('/_node/_local/_stats');
  const { couchdb, couch_replicator: replicator } = body;
  for (const name of [
    'auth_cache_hits',
    'auth_cache_misses',
    'database_reads',
    'database_writes',
    'open_databases',
  ])
    assert.equal(typeof couchdb[name].value, 'number', name);
  for (const name of [
    'requests',
    'bulk_requests',
    'view_reads',
    'clients_requesting_changes',
    'aborted_requests',
  ])
    assert.equal(couchdb.httpd[name].type, 'counter', name);
  assert.deepEqual(
    couchdb.request_time.value.percentile.map(([share]: [number]) => share),
    [50, 75, 90, 95, 99, 999],
  );
  for (const name of [
    'total',
    'running',
    'pending',
    'crashed',
    'adds',
    'removes',
    'starts',
    'stops',
    'crashes',
  ])
    assert.equal(typeof replicator.jobs[name].value, 'number', name);
  assert.ok(couchdb.auth_cache_hits.value > 0);
  const system = (await client.get('/_node/_local/_system')).body;
  for (const name of ['other', 'processes', 'processes_used', 'binary'])
    assert.ok(system.memory[name] >= 0, name);
});
