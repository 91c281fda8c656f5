import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger, type Logger } from '../../src/base/logger.js';
import { createServer, type TuffetServer } from '../../src/server/create-server.js';
import type { ServerOptions } from '../../src/server/server-options.js';
import { HttpClient } from '../support/http-client.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const byN = { map: 'function (doc) { emit(doc.n, null) }' };
const delayMs = 40;
/** Long enough for an index to be filled if it were to be. */
const longerMs = 400;

const on = { background_indexing: 'true', background_indexing_delay_ms: String(delayMs) };
const settings = (tuffet: Record<string, string> = on): ServerOptions => ({ config: { tuffet } });

const docsOf = (count: number): object[] => Array.from({ length: count }, (_, n) => ({ _id: `d${n}`, n }));

async function indexedRows(client: HttpClient, db: string, ddoc = 'd', view = 'v'): Promise<number> {
  const { status, body, text } = await client.get(`${db}/_design/${ddoc}/_view/${view}?update=false&limit=0`);
  assert.equal(status, 200, text);
  return body.total_rows as number;
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const end = Date.now() + 15_000; !(await holds()); await sleep(20)) {
    if (Date.now() > end) assert.fail(`it never came to be that ${what}`);
  }
}

const untilRows = (client: HttpClient, db: string, rows: number, ddoc = 'd'): Promise<void> =>
  until(async () => (await indexedRows(client, db, ddoc)) === rows, `${db}/${ddoc} had ${rows} rows`);

/** A logger that keeps its lines. */
function listening(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { logger: createLogger({ level: 'info', format: 'json', destination }), lines };
}

for (const [where, place] of [
  ['in memory', () => ({})],
  ['on disk', () => ({ dataDir: temporaryFolder() })],
] as const) {
  test(`views and indexes of queries are current without being asked for, ${where}`, async () => {
    const client = await startServer({ ...place(), ...settings() });
    const db = await newDb(client);
    await client.put(`${db}/_design/d`, { views: { v: byN } });
    await client.post(`${db}/_index`, { index: { fields: ['n'] }, ddoc: 'q', name: 'by-n' });
    await client.post(`${db}/_bulk_docs`, { docs: docsOf(30) });
    await untilRows(client, db, 30);
    await client.post(db, { n: 31 });
    await untilRows(client, db, 31);
    await until(async () => {
      const { view_index } = (await client.get(`${db}/_design/q/_info`)).body;
      return view_index.updates_pending.total === 0 && !view_index.updater_running;
    }, 'the index of queries was current');
    const { body } = await client.post(`${db}/_find`, {
      selector: { n: { $gte: 0 } },
      limit: 50,
      update: false,
    });
    assert.equal(body.docs.length, 31);
  });
}

test('unless it is asked for, nothing is indexed in the background', async () => {
  const client = await startServer(settings({ background_indexing_delay_ms: '1' }));
  const db = await newDb(client);
  await client.put(`${db}/_design/d`, { views: { v: byN } });
  await client.post(`${db}/_bulk_docs`, { docs: docsOf(5) });
  await sleep(longerMs);
  assert.equal(await indexedRows(client, db), 0);
});

test('it can be switched on and off while the server runs', async () => {
  const client = await startServer(settings({ background_indexing_delay_ms: String(delayMs) }));
  const db = await newDb(client);
  await client.put(`${db}/_design/d`, { views: { v: byN } });
  await client.put('/_node/_local/_config/tuffet/background_indexing', 'true');
  await client.post(`${db}/_bulk_docs`, { docs: docsOf(5) });
  await untilRows(client, db, 5);
  await client.put('/_node/_local/_config/tuffet/background_indexing', 'false');
  await client.post(db, { n: 6 });
  await sleep(longerMs);
  assert.equal(await indexedRows(client, db), 5);
  const { status } = await client.put('/_node/_local/_config/tuffet/background_indexing', 'perhaps');
  assert.equal(status, 400);
});

test('design documents that say "autoupdate": false are left out', async () => {
  const client = await startServer(settings());
  const db = await newDb(client);
  await client.put(`${db}/_design/d`, { views: { v: byN } });
  await client.put(`${db}/_design/not`, {
    views: { v: { map: 'function (doc) { emit(1) }' } },
    autoupdate: false,
  });
  await client.put(`${db}/_design/nor`, {
    views: { v: { map: 'function (doc) { emit(2) }' } },
    options: { autoupdate: false },
  });
  await client.put(`${db}/_design/views`, {
    views: { v: { map: 'function (doc) { emit(3) }' } },
    autoupdate: { views: false },
  });
  await client.put(`${db}/_design/yes`, {
    views: { v: { map: 'function (doc) { emit(4) }' } },
    autoupdate: { views: true },
  });
  await client.post(`${db}/_bulk_docs`, { docs: docsOf(5) });
  for (const ddoc of ['d', 'yes']) await untilRows(client, db, 5, ddoc);
  await sleep(longerMs);
  for (const ddoc of ['not', 'nor', 'views']) assert.equal(await indexedRows(client, db, ddoc), 0, ddoc);
});

test('many databases that change at once are all indexed', async () => {
  const client = await startServer({ dataDir: temporaryFolder(), ...settings() });
  const dbs: string[] = [];
  for (let n = 0; n < 60; n++) dbs.push(await newDb(client, '?q=1'));
  await Promise.all(
    dbs.map(async (db) => {
      await client.put(`${db}/_design/d`, { views: { v: byN } });
      await client.post(`${db}/_bulk_docs`, { docs: docsOf(10) });
    }),
  );
  for (const db of dbs) await untilRows(client, db, 10);
});

test('a database that is written to all the time is indexed meanwhile', async () => {
  const client = await startServer({ dataDir: temporaryFolder(), ...settings() });
  const db = await newDb(client);
  await client.put(`${db}/_design/d`, { views: { v: byN } });
  let isOver = false;
  const writing = (async (): Promise<void> => {
    for (let n = 0; !isOver; n++) await client.put(`${db}/w${n}`, { n });
  })();
  await until(async () => (await indexedRows(client, db)) > 0, 'rows were seen');
  isOver = true;
  await writing;
});

test('a view that fails is told of once, is not tried again until the database changes, and holds up no other', async () => {
  const { logger, lines } = listening();
  const client = await startServer({ logger, ...settings() });
  const fails = { map: `function (doc) { log('tried'); throw ['fatal', 'no', 'never'] }` };
  const db = await newDb(client);
  await client.post(`${db}/_bulk_docs`, { docs: docsOf(3) });
  await client.put(`${db}/_design/a`, { views: { v: fails } });
  await client.put(`${db}/_design/d`, { views: { v: byN } });
  await untilRows(client, db, 3);
  const count = (text: string): number => lines.filter((line) => line.includes(text)).length;
  // Of a database of several groups, each tries it.
  await until(async () => count('could not be brought up to date') > 0, 'it was told of');
  const tried = count('tried');
  assert.ok(tried > 0, 'the function was tried');
  await sleep(longerMs);
  assert.equal(count('tried'), tried, 'it is not tried again');
  await client.post(db, { n: 4 });
  await untilRows(client, db, 4);
  assert.equal(count('tried'), tried, 'nor at once after a change');
  assert.equal(count('could not be brought up to date'), 1);
});

test('a map function that never ends holds up neither writes nor the views of other databases', async () => {
  const client = await startServer({
    dataDir: temporaryFolder(),
    config: { tuffet: on, couchdb: { os_process_timeout: '6000' } },
  });
  const endless = { map: 'function (doc) { for (;;); }' };
  const bad = await newDb(client);
  await client.put(`${bad}/_design/d`, { views: { v: endless } });
  await client.post(`${bad}/_bulk_docs`, { docs: docsOf(5) });
  const good = await newDb(client);
  await client.put(`${good}/_design/d`, { views: { v: byN } });
  await client.post(`${good}/_bulk_docs`, { docs: docsOf(5) });
  const started = Date.now();
  await untilRows(client, good, 5);
  assert.equal((await client.post(bad, { n: 1 })).status, 201);
  assert.ok(Date.now() - started < 5_500, 'before the other one is ended');
});

async function slowServer(
  dataDir: string,
  logger: Logger,
): Promise<{ server: TuffetServer; client: HttpClient }> {
  const config = { chttpd_auth: { iterations: '100' }, tuffet: on };
  const server = await createServer({ dataDir, admins: { admin: 'secret' }, port: 0, logger, config });
  return { server, client: new HttpClient(server.url) };
}

const slowly = { map: 'function (doc) { for (var i = 0; i < 20000; i++); emit(doc.n, null) }' };

const untilRunning = (client: HttpClient, db: string): Promise<void> =>
  until(
    async () => (await client.get(`${db}/_design/d/_info`)).body.view_index.updater_running === true,
    'the index was being filled',
  );

test('a server that closes in the midst closes at once, and the index goes on after the next start', async () => {
  const dataDir = temporaryFolder();
  const { logger, lines } = listening();
  const { server, client } = await slowServer(dataDir, logger);
  const db = await newDb(client);
  await client.put(`${db}/_design/d`, { views: { v: slowly } });
  await client.post(`${db}/_bulk_docs`, { docs: docsOf(2_000) });
  await untilRunning(client, db);
  const started = Date.now();
  await server.close();
  assert.ok(Date.now() - started < 3_000, 'it does not wait for the index');
  const again = await slowServer(dataDir, logger);
  const { body } = await again.client.get(`${db}/_design/d/_view/v?limit=0`);
  await again.server.close();
  assert.equal(body.total_rows, 2_000);
  assert.deepEqual(
    lines.filter((line) => /background|brought up/.test(line)),
    [],
  );
});

test('a database that is deleted in the midst is left alone, and nothing is complained of', async () => {
  const { logger, lines } = listening();
  const { server, client } = await slowServer(temporaryFolder(), logger);
  const db = await newDb(client);
  await client.put(`${db}/_design/d`, { views: { v: slowly } });
  await client.post(`${db}/_bulk_docs`, { docs: docsOf(2_000) });
  await untilRunning(client, db);
  assert.equal((await client.delete(db)).status, 200);
  await client.put(db);
  await until(async () => (await client.get('/_active_tasks')).body.length === 0, 'no task was left');
  await sleep(longerMs);
  await server.close();
  assert.deepEqual(
    lines.filter((line) => /background|brought up/.test(line)),
    [],
  );
});

test('POST /_reload_query_servers has map functions start afresh too', async () => {
  const client = await startServer({ dataDir: temporaryFolder() });
  const db = await newDb(client, '?q=1');
  const counting = {
    map: `function (doc) { if (typeof seen === 'undefined') seen = 0; emit(doc._id, ++seen) }`,
  };
  await client.put(`${db}/_design/d`, { views: { v: counting } });
  const seenFor = async (id: string): Promise<number> => {
    await client.put(`${db}/${id}`, {});
    const { body } = await client.get(`${db}/_design/d/_view/v?key="${id}"`);
    return body.rows[0].value as number;
  };
  assert.deepEqual([await seenFor('a'), await seenFor('b'), await seenFor('c')], [1, 2, 3]);
  assert.equal((await client.post('/_reload_query_servers', {})).status, 200);
  assert.deepEqual([await seenFor('d'), await seenFor('e')], [1, 2]);
});
