import assert from 'node:assert/strict';
import { createServer } from '../../src/index.js';
import { checkClosedFolder } from '../crash/closed-folder.js';
import { Writer } from '../crash/writer.js';
import { Random } from '../model/random.js';
import { FeedClient, type FeedLine } from '../support/feed-client.js';
import { HttpClient } from '../support/http-client.js';
import { tuffet } from '../operations/cli.js';
import { temporaryFolder } from '../support/server.js';
import { stoppable } from './reshard.js';

const db = '/busy';
const map = 'function (doc) { if (doc.n !== undefined) emit(doc.n) }';

/** Reads changes page by page, from one `last_seq` to the next. */
async function poll(client: HttpClient, isOver: () => boolean): Promise<FeedLine[]> {
  const rows: FeedLine[] = [];
  let since = '0';
  for (;;) {
    const last = isOver();
    const { status, body } = await client.get(`${db}/_changes?limit=50&since=${encodeURIComponent(since)}`);
    assert.equal(status, 200);
    rows.push(...(body.results as FeedLine[]));
    since = body.last_seq as string;
    if (last && body.pending === 0) return rows;
  }
}

/** Waits for one change after the other. */
async function longpoll(client: HttpClient, isOver: () => boolean): Promise<FeedLine[]> {
  const rows: FeedLine[] = [];
  let since = '0';
  for (;;) {
    const last = isOver();
    const wait = last ? '' : '&feed=longpoll&timeout=2000';
    const path = `${db}/_changes?limit=500${wait}&since=${encodeURIComponent(since)}`;
    const { status, body } = await client.get(path);
    assert.equal(status, 200);
    rows.push(...(body.results as FeedLine[]));
    since = body.last_seq as string;
    if (last && body.results.length === 0) return rows;
  }
}

/** Queries a view again and again: each document that was there before must be in it. */
async function query(client: HttpClient, isOver: () => boolean): Promise<number> {
  let queries = 0;
  for (; !isOver(); queries++) {
    const before = (await client.get(`${db}/kept-0`)).status;
    const { status, body } = await client.get(`${db}/_design/v/_view/n?startkey=-50&endkey=-1`);
    assert.deepEqual([before, status, body.rows.length], [200, 200, 50]);
  }
  return queries;
}

/** Each document's last revision came, and nothing came twice. */
function checkRows(what: string, rows: readonly FeedLine[], current: ReadonlyMap<string, string>): void {
  const last = new Map<string, string>();
  const seen = new Set<string>();
  for (const { id, changes } of rows) {
    const rev = changes![0]!.rev;
    assert.ok(!seen.has(`${id} ${rev}`), `${what}: ${id} ${rev} came twice`);
    seen.add(`${id} ${rev}`);
    last.set(id!, rev);
  }
  for (const [id, rev] of current) assert.equal(last.get(id), rev, `${what}: ${id}`);
}

export interface Load {
  seed: number;
  q: number;
  writers: number;
  /** Called while clients write, read, query and follow changes. */
  reshard: (client: HttpClient, db: string) => Promise<void>;
}

/** Puts a database under load while it is resharded: nothing may be lost, doubled or missed. */
export async function reshardUnderLoad({ seed, q, writers: count, reshard }: Load): Promise<void> {
  const dataDir = temporaryFolder();
  const server = await createServer({ dataDir, admins: { admin: 'secret' }, port: 0, logLevel: 'none' });
  const client = new HttpClient(server.url);
  assert.equal((await client.put(`${db}?q=${q}`)).status, 201);
  await client.put(`${db}/_design/v`, { views: { n: { map } } });
  const kept = Array.from({ length: 50 }, (_, n) => ({ _id: `kept-${n}`, n: -1 - n }));
  await client.post(`${db}/_bulk_docs`, { docs: kept });
  const more = Array.from({ length: 3_000 }, (_, n) => ({ _id: `more-${n}` }));
  await client.post(`${db}/_bulk_docs`, { docs: more });
  const feed = new FeedClient(client, `${db}/_changes?feed=continuous&heartbeat=1000`);
  const filtered = new FeedClient(client, `${db}/_changes?feed=continuous&filter=_selector&heartbeat=1000`, {
    json: { selector: { n: { $exists: true } } },
  });
  const gate = stoppable(client);
  const writers = Array.from(
    { length: count },
    (_, i) => new Writer(`w${i}`, new Random(seed + i), i * 1_000_000),
  );
  const writing = Promise.all(writers.map((writer) => writer.run(gate.client, db)));
  let isOver = false;
  const polling = poll(client, () => isOver);
  const longpolling = longpoll(client, () => isOver);
  const querying = query(client, () => isOver);
  await reshard(client, db);
  gate.stop();
  await writing;
  isOver = true;

  const { body } = await client.get(`${db}/_changes`);
  const current = new Map((body.results as FeedLine[]).map(({ id, changes }) => [id!, changes![0]!.rev]));
  const found = new Map<string, { rev: string; deleted: boolean; doc?: Record<string, unknown> }>();
  for (const { id, changes, deleted } of body.results as FeedLine[])
    if (id!.startsWith('w')) found.set(id!, { rev: changes![0]!.rev, deleted: deleted === true });
  for (const { id, doc } of (await client.get(`${db}/_all_docs?include_docs=true`)).body.rows)
    if (found.has(id as string)) Object.assign(found.get(id as string)!, { doc });
  for (const writer of writers) writer.check(found);
  assert.ok(writers.reduce((sum, { applied }) => sum + applied, 0) > 100, 'the load was a load');

  checkRows('poller', await polling, current);
  checkRows('longpoll', await longpolling, current);
  const size = current.size;
  await feed.until('the feed has all', () => new Set(feed.ids).size >= size);
  const isThere = (): boolean => {
    const last = new Map(feed.rows.map(({ id, changes }) => [id!, changes![0]!.rev]));
    return [...current].every(([id, rev]) => last.get(id) === rev);
  };
  await feed.until('the feed has the last of each', isThere);
  checkRows('feed', feed.rows, current);
  checkRows('filtered feed', filtered.rows, new Map());
  assert.ok(filtered.isOpen && feed.isOpen);
  assert.ok((await querying) > 0);

  const live = [...found.values()].filter(({ deleted }) => !deleted).length + kept.length;
  const { body: view } = await client.get(`${db}/_design/v/_view/n?limit=0`);
  assert.equal(view.total_rows, live);
  const { body: info } = await client.get(db);
  const there = (body.results as FeedLine[]).filter(({ deleted }) => !deleted).length;
  assert.deepEqual([info.doc_count, info.doc_count + info.doc_del_count], [there, size]);
  feed.stop();
  filtered.stop();
  await server.close();
  await checkClosedFolder(dataDir);
  const checked = await tuffet('check', '--data', dataDir);
  assert.equal(checked.code, 0, checked.stdout + checked.stderr);
}
