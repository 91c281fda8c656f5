import assert from 'node:assert/strict';
import { after, describe, test, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Random, seed } from '../model/random.js';
import type { Answer } from '../support/http-client.js';
import { ClusterUnderTest } from './cluster-under-test.js';
import { faults } from './faults.js';
import { FeedFollower } from './feed-follower.js';
import { describeHistories, keepFolders } from './history.js';
import { findViolation } from './linearizable.js';
import { skipWithoutNats } from './nats-servers.js';
import { fresh, readDoc, Record, RecordingClient } from './recording-client.js';
import { until } from './until.js';

/** Rounds of faults; TUFFET_ROUNDS=100 takes about half an hour. The first ones have each kind once. */
const rounds = Number(process.env['TUFFET_ROUNDS'] ?? 6);
/** Only faults whose names hold this. */
const wanted = process.env['TUFFET_FAULTS'] ?? '';
/** After so many rounds, and in the end, the files of all nodes are compared. */
const compareAfter = 20;
const docsOfRound = 3;

describe(`faults under writes, seed ${seed}`, skipWithoutNats, async () => {
  const random = new Random(seed);
  // Streams are trimmed early, so that nodes have to copy others too.
  const cluster = await ClusterUnderTest.start({ write_timeout_ms: '5000', trim_messages: '100' });
  after(() => cluster.close());
  const { nodes } = cluster;
  const record = new Record();
  /** Each round has documents of its own, which are checked when clients have gone on to the next ones. */
  let generation = 0;
  const docs = (): string[] => Array.from({ length: docsOfRound }, (_, at) => `doc-${generation}-${at}`);
  // Each node has a client that uses it alone.
  const clients = [...nodes.map((node) => [node]), nodes, nodes].map(
    (used, at) => new RecordingClient(`c${at}`, used, docs, record, random),
  );

  test('nothing acknowledged is lost, nothing is applied twice, histories are linearizable', async (t) => {
    assert.equal((await nodes[0]!.client.put('/db')).status, 201);
    await Promise.all(nodes.map(({ client }) => client.get('/db', fresh)));
    const feed = new FeedFollower(nodes);
    t.after(() => feed.stop());
    for (const client of clients) client.start();
    try {
      for (let round = 0; round < rounds; round++) {
        await playRound(round, t);
        if ((round + 1) % compareAfter === 0 && round + 1 < rounds) {
          await Promise.all(clients.map((client) => client.stop()));
          await compareFiles();
          await Promise.all(nodes.map((node) => node.run()));
          for (const client of clients) client.start();
        }
      }
    } catch (error) {
      for (const node of nodes) t.diagnostic(`${node.name}:\n${node.log.slice(-4_000)}`);
      t.diagnostic(await describeHistories(cluster).catch(String));
      t.diagnostic(keepFolders(cluster));
      throw error;
    } finally {
      await Promise.all(clients.map((client) => client.stop()));
    }
    await checkAttachments();
    await checkFeed(feed);
    await compareFiles();
    t.diagnostic(`${rounds} rounds: ${JSON.stringify(record.outcomes)}`);
    t.diagnostic(
      `${record.histories.size} histories, ${record.attachments.size} attachments, ${feed.rows} rows of the feed`,
    );
  });

  async function playRound(round: number, t: TestContext): Promise<void> {
    const names = Object.keys(faults).filter((each) => each.includes(wanted));
    const name = names[round] ?? random.pick(names);
    const startedMs = Date.now();
    await faults[name]!(cluster, random);
    const before = clients.map(({ progress }) => progress);
    await until(() => clients.every(({ progress }, at) => progress > before[at]! + 2));
    t.diagnostic(`${round + 1}. ${name}: ${Date.now() - startedMs} ms, ${JSON.stringify(record.outcomes)}`);
    const ids = docs();
    generation++;
    // What was begun with these documents is over when each client has gone on to others.
    const later = clients.map(({ progress }) => progress);
    await until(() => clients.every(({ progress }, at) => progress > later[at]! + 1));
    for (const id of ids) await checkDocument(id);
  }

  async function checkDocument(id: string): Promise<void> {
    for (const node of nodes) await until(async () => (await readDoc(node, id, record)) !== 'unknown');
    const history = record.histories.get(id) ?? [];
    const violation = findViolation(history);
    assert.equal(violation, undefined, `${id}: ${JSON.stringify(violation)}\n${JSON.stringify(history)}`);
    let answers: Answer[] = [];
    // A write of unknown outcome may be applied in between.
    await until(async () => {
      answers = await Promise.all(
        nodes.map(({ client }) => client.get(`/db/${id}?revs=true&conflicts=true`, fresh)),
      );
      return answers.every(({ status, text }) => status !== 503 && text === answers[0]!.text);
    });
    const { _revisions, _conflicts, n } = answers[0]!.body;
    const acknowledged = record.acknowledged.get(id) ?? [];
    if (_revisions === undefined) return assert.deepEqual(acknowledged, []);
    const { start, ids } = _revisions as { start: number; ids: string[] };
    const revs = new Set(ids.map((hash, at) => `${start - at}-${hash}`));
    assert.deepEqual(
      acknowledged.filter((rev) => !revs.has(rev)),
      [],
    );
    assert.equal(new Set(acknowledged).size, acknowledged.length);
    assert.equal(_conflicts, undefined);
    assert.equal(n, start);
  }

  async function checkAttachments(): Promise<void> {
    for (const [path, digest] of record.attachments)
      for (const { client } of nodes) {
        let answer: Answer;
        await until(async () => (answer = await client.get(path, fresh)).status !== 503);
        const { status, headers, text } = answer!;
        assert.equal(status, 200, `${path}: ${text}`);
        assert.equal(headers['content-md5'], digest);
      }
  }

  async function checkFeed(feed: FeedFollower): Promise<void> {
    const { body } = await nodes[0]!.client.get('/db/_all_docs', fresh);
    const rows = body.rows as { id: string; value: { rev: string } }[];
    assert.ok(rows.length >= record.attachments.size);
    const missing = (): unknown[] => rows.filter(({ id, value }) => feed.latest.get(id) !== value.rev);
    await until(() => missing().length === 0).catch(() => assert.deepEqual(missing(), []));
  }

  async function compareFiles(): Promise<void> {
    for (const { client } of nodes) await until(async () => (await client.get('/db', fresh)).status === 200);
    await Promise.all(nodes.map((node) => node.end('SIGTERM')));
    const [first, ...others] = await Promise.all(nodes.map((node) => node.contents('db')));
    for (const other of others) assert.ok(isDeepStrictEqual(other, first), 'the files of nodes differ');
  }
});
