import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Finding } from '../../src/compare/findings.js';
import { gridRequests } from '../../src/compare/grid.js';
import { compareServers } from '../../src/compare/run.js';
import { allDatabaseRoutes, allServerRoutes, documentRoutes } from '../../src/http/routes/router.js';
import { createServer } from '../../src/server/create-server.js';
import { DistortingProxy } from '../support/distorting-proxy.js';

/** Endpoints that stop the server, change how it runs, tell of the machine or have no counterpart there. */
const leftOut = new Set([
  'GET /',
  'GET /_feeds',
  'GET /_node',
  'GET /_utils',
  'GET /_utils/*',
  'GET /favicon.ico',
  'POST /_reload_query_servers',
]);
/** Also what CouchDB 3.4 does not have: `_auto_purge` and `_time_seq` are of 3.5, `_expiry` is Tuffet's own. */
const leftOutBelow =
  /^\/_(?:node|reshard|cluster|search_analyze)|\/_(?:search|nouveau)|\/_partition\/.*(?:\/\*|_info)$|_view\/\*$|\/_(?:auto_purge|time_seq|expiry)$/;

let reference: { url: string; close(): Promise<void> };
let subject: { url: string; close(): Promise<void> };
let proxy: DistortingProxy;

async function start() {
  const server = await createServer({
    inMemory: true,
    port: 0,
    logLevel: 'none',
    admins: { admin: 'secret' },
    config: { chttpd_auth: { iterations: '100' } },
  });
  return server;
}

before(async () => {
  [reference, subject] = await Promise.all([start(), start()]);
  proxy = await new DistortingProxy(subject.url).listen();
});

after(async () => {
  proxy.close();
  await Promise.all([reference.close(), subject.close()]);
});

async function run(only: string, minutes = 5) {
  const found: Finding[] = [];
  const summary = await compareServers({
    reference: reference.url.replace('//', '//admin:secret@'),
    subject: `http://admin:secret@127.0.0.1:${proxy.port}`,
    minutes,
    seed: 1,
    only,
    mode: 'both',
    reasons: true,
    shrink: true,
    report: (finding) => found.push(finding),
  });
  return { found, summary };
}

test('two servers that answer alike give no findings, and nothing is left behind', async () => {
  const { found, summary } = await run('/_revs_diff');
  assert.deepEqual(found, []);
  assert.ok(summary.requests > 50);
  assert.match(summary.coverage, /^(\d+) of \1 endpoints .*, (\d+) of \2 pairs/);
  const headers = { authorization: `Basic ${Buffer.from('admin:secret').toString('base64')}` };
  const names = (await (await fetch(`${reference.url}/_all_dbs`, { headers })).json()) as string[];
  assert.deepEqual(
    names.filter((name) => name.startsWith('compare')),
    [],
  );
  const users = (await (await fetch(`${reference.url}/_users/_all_docs`, { headers })).json()) as {
    rows: { id: string }[];
  };
  assert.deepEqual(
    users.rows.filter(({ id }) => !id.startsWith('_design/')),
    [],
  );
});

test('a difference is reported once for its kind, with the requests that it takes and no others', async () => {
  proxy.distort = (passing) => {
    passing.text = passing.text.replaceAll('"possible_ancestors"', '"possible"');
  };
  const { found } = await run('POST /{db}/_revs_diff');
  proxy.distort = () => {};
  const kinds = new Set(
    found.map(({ requests, differences }) => `${requests.at(-1)!.parameter} ${differences[0]!.member}`),
  );
  assert.equal(kinds.size, found.length);
  const { requests, differences } = found[0]!;
  assert.deepEqual(
    requests.map(({ method, path }) => `${method} ${path}`),
    ['PUT /{db}', 'POST /{db}/_bulk_docs', 'POST /{db}/_revs_diff'],
  );
  assert.match(differences[0]!.member, /^body\.tree\.possible/);
});

test('random sequences are played where nothing is left out', async () => {
  const { found, summary } = await run('', 0.03);
  assert.deepEqual(found, []);
  assert.ok(summary.sequences > 0);
});

test('every endpoint of the server is compared, or left out for a reason', () => {
  const routes = [...allServerRoutes, ...allDatabaseRoutes, ...documentRoutes];
  const known = new Set(gridRequests().map(({ request }) => request.endpoint));
  const missing = routes.flatMap(({ path, methods }) =>
    Object.keys(methods)
      // Methods that fetch does not send.
      .filter((method) => method !== 'TRACE' && method !== 'CONNECT')
      .map((method) => `${method} ${path}`)
      .filter((endpoint) => !known.has(endpoint) && !leftOut.has(endpoint) && !leftOutBelow.test(path)),
  );
  assert.deepEqual(missing, []);
});
